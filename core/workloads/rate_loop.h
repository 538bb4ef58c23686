// Runs a rate kernel on a team of workers, with the core's clock taken in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/rate_kernel.h"
#include "machine/buffer.h"
#include "machine/machine.h"
#include "measure/effective_clock.h"
#include "measure/team.h"
#include "probe/probe.h"

namespace nameplate {

enum class Scaling {
  weak,    // one repetition is one block on each worker
  strong,  // one repetition is kStrongOperations in all, split between the workers
};

inline constexpr double kStrongOperations = 1e9;

class RateLoop {
 public:
  // Tunes: of `candidates` (same mix, different numbers of chains; at least one) keeps the one with the highest rate.
  RateLoop(std::vector<RateKernel> candidates, unsigned threads, Scaling scaling, const Placement& placement);

  // The declarations that a probe using this loop adds to its ProbeInfo, and the values in the same order.
  static std::vector<Fact> facts();
  static std::vector<Counter> counters();
  Facts fact_values() const;

  // Runs `repetitions`; `flops` says whether the operations count as flops or as ops.
  Work run(std::uint64_t repetitions, bool flops);

  // Compares every worker's last result with a scalar replay; calls wrong_result on a difference.
  void verify() const;

 private:
  struct Trial {
    double block_s = 0;
    double burst_s = 0;
  };

  void tune(std::vector<RateKernel> candidates);
  Trial try_out(const RateKernel& kernel);
  std::uint64_t blocks_of(unsigned worker) const;
  void work(unsigned worker);

  std::unique_ptr<Team> team_;
  Scaling scaling_;
  RateKernel kernel_;
  Trial best_;
  std::uint64_t blocks_in_repetition_ = 1;  // of strong scaling
  std::uint64_t blocks_between_bursts_ = 1;
  std::uint64_t repetitions_ = 0;
  std::vector<Buffer> results_;
  std::vector<BurstLog> bursts_;
  std::vector<double> counter_values_;
  Team::Function work_;
};

}  // namespace nameplate
