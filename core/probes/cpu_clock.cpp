// What it measures: the clock that the cores really run at, idle but for the measurement itself, and under full
// floating-point load of each instruction set.
//
// Why that is valid: a chain of dependent register-to-register additions takes one cycle each on every current CPU; it
// runs in short bursts (0.1 % of the time) between pieces of the load in the same thread, so the core has no time to
// change its clock. It needs no counters, MSRs or privileges, and sees through a guest.
//
// What it does not show: the nominal clock or the time-stamp counter's, and changes shorter than some 10 us.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/flops.h"
#include "kernels/register_chain.h"
#include "measure/rate_loop.h"
#include "probe/error.h"
#include "probe/registry.h"

namespace nameplate {

namespace {

// No load: the chain alone, in blocks.
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

Isa widest_isa() {
  const auto& isas = compiled_isas();
  const auto found = std::find_if(isas.rbegin(), isas.rend(), [](Isa isa) {
    return !why_not(isa) && !flops_kernels<double>(isa, FloatMix::add_mul).empty();
  });
  return found == isas.rend() ? Isa::scalar : *found;
}

std::vector<RateKernel> load_kernels(const std::string& under) {
  if (under == "idle") return {chain_kernel()};
  const Isa isa = *parse_isa(under);
  if (const auto reason = why_not(isa)) refuse(fmt::format("under={}: {}", under, *reason));
  auto kernels = flops_kernels<double>(isa, FloatMix::fma);
  return kernels.empty() ? flops_kernels<double>(isa, FloatMix::add_mul) : kernels;
}

class CpuClock final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const auto threads = parameters.count_if_given("threads").value_or(machine.default_threads());
    const std::string asked = parameters.word("under");
    const std::string under = asked == "widest" ? to_string(widest_isa()) : asked;
    loop_.emplace(load_kernels(under), static_cast<unsigned>(threads), Scaling::weak, machine.topology.allowed);
    Prepared prepared{.resolved = parameters, .facts = loop_->fact_values()};
    prepared.resolved.set("under", under);
    prepared.resolved.set("threads", threads);
    return prepared;
  }

  Work run(std::uint64_t repetitions) override { return loop_->run(repetitions, false); }
  void verify() override { loop_->verify(); }

 private:
  std::optional<RateLoop> loop_;
};

ProbeInfo info() {
  return {.name = "cpu_clock",
          .summary = "the clock that the cores really run at, idle and under load",
          .parameters = {choice("under", "load: none, or fp64 fma (without fma: add+mul) of an instruction set",
                                {"idle", "widest", "scalar", "sse2", "avx2", "avx512", "neon", "sve"}, "idle"),
                         threads_parameter()},
          .counters = RateLoop::counters(),
          .facts = RateLoop::facts(),
          .needs = {},
          .reports_workers = false};
}

const Registration<CpuClock> kRegistration(info());

}  // namespace

}  // namespace nameplate
