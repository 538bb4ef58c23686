// What it measures: the rate of integer operations that the cores sustain from registers, for one instruction set, type
// and mix of operations, on any number of threads.
//
// Why that is valid: as for cpu_flops; in addition every value is hidden from the compiler after each operation, which
// would otherwise fold a chain of integer additions into one.
//
// What it does not show: logic, shifts and address arithmetic, nor division by other operands (a division's time
// depends on them; here the divisor has 2 to 16 bits).

#include <fmt/format.h>

#include <algorithm>

#include "kernels/amx.h"
#include "kernels/intops.h"
#include "kernels/vnni.h"
#include "measure/rate_loop.h"
#include "probe/error.h"
#include "probe/registry.h"

namespace nameplate {

namespace {

std::vector<RateKernel> dot_kernels(Isa isa) {
  if (isa == Isa::amx) return amx_int8_kernels();
  if (isa != Isa::avx512) return {};
  if (const auto reason = why_not_vnni()) refuse(fmt::format("mix=dot: {}", *reason));
  return vnni_kernels();
}

std::vector<RateKernel> kernels_for(Isa isa, const std::string& precision, const std::string& mix) {
  if (mix == "dot" || precision == "int8")
    return mix == "dot" && precision == "int8" ? dot_kernels(isa) : std::vector<RateKernel>();
  if (isa == Isa::amx) return {};
  const IntegerMix integer_mix = parse_integer_mix(mix);
  return precision == "int32" ? intops_kernels<std::int32_t>(isa, integer_mix)
                              : intops_kernels<std::int64_t>(isa, integer_mix);
}

// The widest instruction set that this CPU has and that has this mix of this type.
Isa best_isa(const std::string& precision, const std::string& mix) {
  if (mix == "dot") return why_not(Isa::amx) ? Isa::avx512 : Isa::amx;
  const auto& isas = compiled_isas();
  const auto found = std::find_if(isas.rbegin(), isas.rend(),
                                  [&](Isa isa) { return !why_not(isa) && !kernels_for(isa, precision, mix).empty(); });
  return found == isas.rend() ? Isa::scalar : *found;
}

class CpuIntops final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const std::string mix = parameters.word("mix");
    const std::string precision = parameters.word_if_given("precision").value_or(mix == "dot" ? "int8" : "int64");
    const auto asked = parameters.word_if_given("isa");
    const Isa isa = asked ? *parse_isa(*asked) : best_isa(precision, mix);
    const auto threads = parameters.count_if_given("threads").value_or(machine.default_threads());
    const Scaling scaling = parameters.word("scaling") == "weak" ? Scaling::weak : Scaling::strong;

    if (const auto reason = why_not(isa)) refuse(fmt::format("isa={}: {}", to_string(isa), *reason));
    std::vector<RateKernel> kernels = kernels_for(isa, precision, mix);
    if (kernels.empty()) {
      refuse(fmt::format("isa={} has no instruction for mix={} precision={}", to_string(isa), mix, precision));
    }
    loop_.emplace(std::move(kernels), static_cast<unsigned>(threads), scaling, machine.topology.allowed);
    Prepared prepared{.resolved = parameters, .facts = loop_->fact_values()};
    prepared.resolved.set("isa", to_string(isa));
    prepared.resolved.set("precision", precision);
    prepared.resolved.set("threads", threads);
    return prepared;
  }

  Work run(std::uint64_t repetitions) override { return loop_->run(repetitions, false); }
  void verify() override { loop_->verify(); }

 private:
  std::optional<RateLoop> loop_;
};

ProbeInfo info() {
  return {.name = "cpu_intops",
          .summary = "peak integer rate from registers, by instruction set, type and mix",
          .parameters = {automatic_choice("isa", "instruction set",
                                          {"scalar", "sse2", "avx2", "avx512", "amx", "neon", "sve"},
                                          "the widest that this CPU has for the mix"),
                         automatic_choice("precision", "type of the operands (int8: dot only)",
                                          {"int32", "int64", "int8"}, "int64, or int8 for mix=dot"),
                         choice("mix",
                                "operations; mixed is + − × ÷ in equal parts, dot the 8-bit dot product of VNNI or AMX",
                                {"add", "mul", "mixed", "dot"}, "add"),
                         threads_parameter(),
                         choice("scaling",
                                "weak: as much work for every thread; strong: 10^9 operations a repetition, split "
                                "between the threads",
                                {"weak", "strong"}, "weak")},
          .counters = RateLoop::counters(),
          .facts = RateLoop::facts(),
          .needs = {},
          .reports_workers = true};
}

const Registration<CpuIntops> kRegistration(info());

}  // namespace

}  // namespace nameplate
