// What it measures: the rate of integer operations that the cores sustain from registers, for one instruction set, type
// and mix of operations, on any number of threads.
//
// Why that is valid: as for cpu_flops; in addition, every value is hidden from the compiler after each operation, which
// would otherwise fold a chain of integer additions into one.
//
// What it does not show: logic, shifts and address arithmetic, or division with other operands (the time of a division
// depends on them; here the divisor has 2 to 16 bits).

#include <fmt/format.h>

#include "kernels/amx.h"
#include "kernels/intops.h"
#include "kernels/vnni.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "workloads/rate_probe.h"

namespace nameplate::cpu_intops {

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

Isa best_isa(const std::string& precision, const std::string& mix) {
  if (mix == "dot") return why_not(Isa::amx) ? Isa::avx512 : Isa::amx;
  return widest_isa([&](Isa isa) { return !kernels_for(isa, precision, mix).empty(); });
}

std::vector<RateKernel> unoptimised_kernels(const std::string& precision) {
  if (precision == "int8") return {};
  return precision == "int32" ? unoptimised_intops_kernels<std::int32_t>() : unoptimised_intops_kernels<std::int64_t>();
}

class CpuIntops final : public RateProbe {
 public:
  CpuIntops() : RateProbe(Unit::ops) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const std::string mix = parameters.word("mix");
    const std::string precision = parameters.word_if_given("precision").value_or(mix == "dot" ? "int8" : "int64");
    const bool is_plain = is_unoptimised(parameters);
    const auto asked = parameters.word_if_given("isa");
    const Isa isa = is_plain ? Isa::scalar : asked ? *parse_isa(*asked) : best_isa(precision, mix);
    require_isa("isa", isa);
    std::vector<RateKernel> kernels = is_plain ? unoptimised_kernels(precision) : kernels_for(isa, precision, mix);
    if (kernels.empty()) {
      refuse(fmt::format("isa={} has no instruction for mix={} precision={}", to_string(isa), mix, precision));
    }
    Prepared prepared = ready(std::move(kernels), parameters, machine);
    prepared.resolved.set("isa", to_string(isa));
    prepared.resolved.set("precision", precision);
    return prepared;
  }
};

ProbeInfo info() {
  return {.name = "cpu_intops",
          .summary = "peak integer rate from registers, by instruction set, type and mix",
          .parameters = {isa_parameter(),
                         automatic_choice("precision", "type of the operands (int8: dot only)",
                                          {"int32", "int64", "int8"}, "int64, or int8 for mix=dot"),
                         choice("mix",
                                "operations; mixed is + − × ÷ in equal parts, dot is the 8-bit dot product of VNNI "
                                "or AMX",
                                {"add", "mul", "mixed", "dot"}, "add"),
                         threads_parameter(), scaling_parameter(), build_parameter(), ends_parameter()},
          .counters = RateLoop::counters(),
          .facts = RateLoop::facts(),
          .needs = {},
          .reports_workers = true};
}

const Registration<CpuIntops> kRegistration(info);

}  // namespace

}  // namespace nameplate::cpu_intops
