// What it measures: the rate of floating-point operations that the cores sustain from registers, for one instruction
// set, precision and mix of operations, on any number of threads.
//
// Why that is valid: each instruction set is compiled for itself, the independent chains are enough to hide the
// latency (their number is tuned), operands are bounded random mantissas, and every worker's result is replayed in
// scalar code and must agree bit for bit. The core's clock is taken between pieces of the load, so that the rate can
// be put beside ports × clock.
//
// What it does not show: what a program reaches whose operands come from caches or memory (memory_stream, cpu_workset),
// and the rate of denormal or special values.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/amx.h"
#include "kernels/flops.h"
#include "measure/rate_loop.h"
#include "probe/error.h"
#include "probe/registry.h"

namespace nameplate {

namespace {

std::vector<RateKernel> vector_kernels(Isa isa, const std::string& precision, FloatMix mix) {
  if (isa == Isa::amx) return {};
  if (precision == "bf16") return {};
  return precision == "fp64" ? flops_kernels<double>(isa, mix) : flops_kernels<float>(isa, mix);
}

std::vector<RateKernel> kernels_for(Isa isa, const std::string& precision, FloatMix mix) {
  if (const auto reason = why_not(isa)) refuse(fmt::format("isa={}: {}", to_string(isa), *reason));
  if (isa == Isa::amx && precision == "bf16" && mix == FloatMix::fma) return amx_bf16_kernels();
  return vector_kernels(isa, precision, mix);
}

// The widest instruction set that this CPU has and that has this mix in this precision.
Isa best_isa(const std::string& precision, FloatMix mix) {
  if (precision == "bf16") return Isa::amx;
  const auto& isas = compiled_isas();
  const auto found = std::find_if(isas.rbegin(), isas.rend(), [&](Isa isa) {
    return !why_not(isa) && !vector_kernels(isa, precision, mix).empty();
  });
  return found == isas.rend() ? Isa::scalar : *found;
}

class CpuFlops final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const std::string precision = parameters.word("precision");
    const FloatMix mix = parse_float_mix(parameters.word("mix"));
    const auto asked = parameters.word_if_given("isa");
    const Isa isa = asked ? *parse_isa(*asked) : best_isa(precision, mix);
    const auto threads = parameters.count_if_given("threads").value_or(machine.default_threads());
    const Scaling scaling = parameters.word("scaling") == "weak" ? Scaling::weak : Scaling::strong;

    std::vector<RateKernel> kernels = kernels_for(isa, precision, mix);
    if (kernels.empty()) {
      refuse(
          fmt::format("isa={} has no instruction for mix={} precision={}", to_string(isa), to_string(mix), precision));
    }
    loop_.emplace(std::move(kernels), static_cast<unsigned>(threads), scaling, machine.topology.allowed);
    Prepared prepared{.resolved = parameters, .facts = loop_->fact_values()};
    prepared.resolved.set("isa", to_string(isa));
    prepared.resolved.set("threads", threads);
    return prepared;
  }

  Work run(std::uint64_t repetitions) override { return loop_->run(repetitions, true); }
  void verify() override { loop_->verify(); }

 private:
  std::optional<RateLoop> loop_;
};

ProbeInfo info() {
  return {
      .name = "cpu_flops",
      .summary = "peak floating-point rate from registers, by instruction set, precision and mix",
      .parameters = {automatic_choice("isa", "instruction set",
                                      {"scalar", "sse2", "avx2", "avx512", "amx", "neon", "sve"},
                                      "the widest that this CPU has for the mix"),
                     choice("precision", "type of the operands (bf16: AMX only)", {"fp64", "fp32", "bf16"}, "fp64"),
                     choice("mix", "operations; a fused multiply-add (fma) counts two, mixed is + − × ÷ in equal parts",
                            float_mix_names(), "fma"),
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

const Registration<CpuFlops> kRegistration(info());

}  // namespace

}  // namespace nameplate
