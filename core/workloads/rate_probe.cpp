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

void require_isa(const std::string& parameter, Isa isa) {
  if (const auto reason = why_not(isa)) refuse(fmt::format("{}={}: {}", parameter, to_string(isa), *reason));
}

Prepared RateProbe::ready(std::vector<RateKernel> kernels, const Parameters& parameters, const Machine& machine) {
  const auto threads = parameters.count_if_given("threads").value_or(machine.default_threads());
  const bool strong = parameters.word_if_given("scaling") == "strong";
  loop_.emplace(std::move(kernels), static_cast<unsigned>(threads), strong ? Scaling::strong : Scaling::weak,
                machine.topology.allowed);
  Prepared prepared{.resolved = parameters, .facts = loop_->fact_values()};
  prepared.resolved.set("threads", threads);
  return prepared;
}

}  // namespace nameplate
