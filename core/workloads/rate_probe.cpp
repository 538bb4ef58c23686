#include "workloads/rate_probe.h"

#include <fmt/format.h>

#include "probe/error.h"

namespace nameplate {

Parameter isa_parameter() {
  return automatic_choice("isa", "instruction set", {"scalar", "sse2", "avx2", "avx512", "amx", "neon", "sve"},
                          "the widest that this CPU has for the mix");
}

Parameter scaling_parameter() {
  return choice("scaling",
                "weak: the same work per thread; strong: 10^9 operations per repetition, divided among the threads",
                {"weak", "strong"}, "weak");
}

Parameter build_parameter() {
  return choice("build",
                "optimised: operands in registers; O0: scalar, with every operand in memory, as a compiler without "
                "optimisation leaves it (mix=mixed)",
                {"optimised", "O0"}, "optimised");
}

bool is_unoptimised(const Parameters& parameters) {
  if (parameters.word("build") != "O0") return false;
  const std::string isa = parameters.word_if_given("isa").value_or("scalar");
  if (isa != "scalar") refuse(fmt::format("build=O0 isa={}: its loop is scalar; use isa=scalar", isa));
  const std::string& mix = parameters.word("mix");
  if (mix != "mixed") refuse(fmt::format("build=O0 mix={}: it has one loop; use mix=mixed", mix));
  return true;
}

void require_isa(const std::string& parameter, Isa isa) {
  if (const auto reason = why_not(isa)) refuse(fmt::format("{}={}: {}", parameter, to_string(isa), *reason));
}

Prepared RateProbe::ready(std::vector<RateKernel> kernels, const Parameters& parameters, const Machine& machine) {
  const auto threads = parameters.count_if_given("threads").value_or(machine.default_threads());
  const bool strong = parameters.word_if_given("scaling") == "strong";
  const Ends ends = parse_ends(parameters.word_if_given("ends").value_or("work"));
  if (strong && ends == Ends::time) {
    refuse("scaling=strong ends=time: a worker that ends by time has no share of the work");
  }
  loop_.emplace(std::move(kernels), static_cast<unsigned>(threads), strong ? Scaling::strong : Scaling::weak, ends,
                machine.topology.allowed);
  Prepared prepared{.resolved = parameters, .facts = loop_->fact_values()};
  prepared.resolved.set("threads", threads);
  return prepared;
}

}  // namespace nameplate
