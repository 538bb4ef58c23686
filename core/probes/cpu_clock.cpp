// What it measures: the clock at which the cores really run, idle except for the measurement, and under full
// floating-point load of each instruction set.
//
// Why that is valid: a chain of dependent register-to-register additions takes one cycle per addition on every current
// CPU. It runs in short bursts (0.2 % of the time) between pieces of the load in the same thread, so the core has no
// time to change its clock. It needs no counters, MSRs or privileges, and works inside a guest.
//
// What it does not show: the nominal clock or that of the time-stamp counter, and changes shorter than about 10 us.

#include "kernels/flops.h"
#include "kernels/register_chain.h"
#include "probe/registry.h"
#include "workloads/rate_probe.h"

namespace nameplate::cpu_clock {

namespace {

// No load: only the chain, in blocks.
RateKernel chain_kernel() {
  constexpr std::uint64_t kTurns = 1024;
  RateKernel kernel;
  kernel.chains = 1;
  kernel.lanes = 1;
  kernel.instructions = kTurns * kChainUnroll;
  kernel.operations = kernel.instructions;
  kernel.run = [](std::byte*) { register_chain(kTurns); };
  kernel.difference = [](const std::byte*) { return std::nullopt; };
  return kernel;
}

// fp64 fma, or add+mul if there is no fma.
std::vector<RateKernel> load_kernels(Isa isa) {
  auto kernels = flops_kernels<double>(isa, FloatMix::fma);
  return kernels.empty() ? flops_kernels<double>(isa, FloatMix::add_mul) : kernels;
}

class CpuClock final : public RateProbe {
 public:
  CpuClock() : RateProbe(Unit::ops) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const std::string under = parameters.word("under");
    if (under == "idle") return ready({chain_kernel()}, parameters, machine);
    const auto has_kernels = [](Isa isa) { return isa != Isa::amx && !load_kernels(isa).empty(); };
    const Isa isa = under == "widest" ? widest_isa(has_kernels) : *parse_isa(under);
    require_isa("under", isa);
    Prepared prepared = ready(load_kernels(isa), parameters, machine);
    prepared.resolved.set("under", to_string(isa));
    return prepared;
  }
};

ProbeInfo info() {
  return {.name = "cpu_clock",
          .summary = "clock at which the cores really run, idle and under load",
          .parameters = {choice("under", "load: none, or fp64 fma (without fma: add+mul) of an instruction set",
                                {"idle", "widest", "scalar", "sse2", "avx2", "avx512", "neon", "sve"}, "idle"),
                         threads_parameter()},
          .counters = RateLoop::counters(),
          .facts = RateLoop::facts(),
          .needs = {},
          .reports_workers = false};
}

const Registration<CpuClock> kRegistration(info);

}  // namespace

}  // namespace nameplate::cpu_clock
