// Code that the probes of arithmetic rates share: their parameters, and everything after the choice of the kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/isa.h"
#include "probe/probe.h"
#include "workloads/rate_loop.h"

namespace nameplate {

Parameter isa_parameter();
Parameter scaling_parameter();
Parameter build_parameter();

// Returns whether `build` asks for a loop without optimisation; refuses it with any other `isa` than scalar, and with
// any other `mix` than mixed.
bool is_unoptimised(const Parameters& parameters);

// Refuses an instruction set that this CPU lacks.
void require_isa(const std::string& parameter, Isa isa);

class RateProbe : public Probe {
 public:
  // `unit` says what the kernels' operations count as.
  enum class Unit { flops, ops };
  explicit RateProbe(Unit unit) : unit_(unit) {}

  Work run(std::uint64_t repetitions) override { return loop_->run(repetitions, unit_ == Unit::flops); }
  void verify() override { loop_->verify(); }

 protected:
  // Tunes and prepares the kernels, of which there is at least one; resolves `threads`.
  Prepared ready(std::vector<RateKernel> kernels, const Parameters& parameters, const Machine& machine);

 private:
  Unit unit_;
  std::optional<RateLoop> loop_;
};

}  // namespace nameplate
