// What it measures: the rate of floating-point operations that the cores sustain from registers, for one instruction
// set, precision and mix of operations, on any number of threads.
//
// Why that is valid: each instruction set is compiled separately, there are enough independent chains to hide the
// latency (their number is tuned), operands are bounded random mantissas, and every worker's result is replayed in
// scalar code and must agree bit for bit. The core's clock is measured between pieces of the load, so that the rate can
// be compared with ports × clock.
//
// What it does not show: what a program reaches whose operands come from caches or memory (memory_stream, cpu_workset),
// and the rate with denormal or special values.

#include <fmt/format.h>

#include "kernels/amx.h"
#include "kernels/flops.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "workloads/rate_probe.h"

namespace nameplate::cpu_flops {

namespace {

std::vector<RateKernel> vector_kernels(Isa isa, const std::string& precision, FloatMix mix) {
  if (isa == Isa::amx) return {};
  if (precision == "bf16") return {};
  return precision == "fp64" ? flops_kernels<double>(isa, mix) : flops_kernels<float>(isa, mix);
}

std::vector<RateKernel> kernels_for(Isa isa, const std::string& precision, FloatMix mix) {
  require_isa("isa", isa);
  if (isa == Isa::amx && precision == "bf16" && mix == FloatMix::fma) return amx_bf16_kernels();
  return vector_kernels(isa, precision, mix);
}

Isa best_isa(const std::string& precision, FloatMix mix) {
  if (precision == "bf16") return Isa::amx;
  return widest_isa([&](Isa isa) { return !vector_kernels(isa, precision, mix).empty(); });
}

std::vector<RateKernel> unoptimised_kernels(const std::string& precision) {
  if (precision == "bf16") return {};
  return precision == "fp64" ? unoptimised_flops_kernels<double>() : unoptimised_flops_kernels<float>();
}

class CpuFlops final : public RateProbe {
 public:
  CpuFlops() : RateProbe(Unit::flops) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const std::string precision = parameters.word("precision");
    const FloatMix mix = parse_float_mix(parameters.word("mix"));
    const bool is_plain = is_unoptimised(parameters);
    const auto asked = parameters.word_if_given("isa");
    const Isa isa = is_plain ? Isa::scalar : asked ? *parse_isa(*asked) : best_isa(precision, mix);
    std::vector<RateKernel> kernels = is_plain ? unoptimised_kernels(precision) : kernels_for(isa, precision, mix);
    if (kernels.empty()) {
      refuse(
          fmt::format("isa={} has no instruction for mix={} precision={}", to_string(isa), to_string(mix), precision));
    }
    Prepared prepared = ready(std::move(kernels), parameters, machine);
    prepared.resolved.set("isa", to_string(isa));
    return prepared;
  }
};

ProbeInfo info() {
  return {
      .name = "cpu_flops",
      .summary = "peak floating-point rate from registers, by instruction set, precision and mix",
      .parameters = {isa_parameter(),
                     choice("precision", "type of the operands (bf16: AMX only)", {"fp64", "fp32", "bf16"}, "fp64"),
                     choice("mix", "operations; fma, a fused multiply-add, counts two; mixed is + − × ÷ in equal parts",
                            float_mix_names(), "fma"),
                     threads_parameter(), scaling_parameter(), build_parameter(), ends_parameter()},
      .counters = RateLoop::counters(),
      .facts = RateLoop::facts(),
      .needs = {},
      .reports_workers = true};
}

const Registration<CpuFlops> kRegistration(info);

}  // namespace

}  // namespace nameplate::cpu_flops
