// Runs a rate kernel on a team of workers, and measures the core's clock in between.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/rate_kernel.h"
#include "machine/buffer.h"
#include "machine/machine.h"
#include "measure/effective_clock.h"
#include "measure/ends.h"
#include "measure/team.h"
#include "probe/probe.h"

namespace nameplate {

enum class Scaling {
  weak,    // one repetition is one block per worker
  strong,  // one repetition is kStrongOperations in all, divided among the workers
};

inline constexpr double kStrongOperations = 1e9;

class RateLoop {
 public:
  // Keeps the fastest of `candidates` (same mix, different numbers of chains; at least one).
  RateLoop(std::vector<RateKernel> candidates, unsigned threads, Scaling scaling, Ends ends,
           const Placement& placement);

  // The declarations that a probe with this loop adds to its ProbeInfo, and their values in the same order.
  static std::vector<Fact> facts();
  static std::vector<Counter> counters();
  Facts fact_values() const;

  const RateKernel& kernel() const { return kernel_; }

  // Runs `repetitions`; `flops` says whether operations count as flops or as ops.
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
  std::uint64_t share_of(unsigned worker) const;
  void work(unsigned worker);

  std::unique_ptr<Team> team_;
  Scaling scaling_;
  Ends ends_;
  RateKernel kernel_;
  Trial best_;
  std::uint64_t blocks_in_repetition_ = 1;  // for strong scaling
  std::uint64_t blocks_between_bursts_ = 1;
  std::uint64_t repetitions_ = 0;
  std::vector<std::uint64_t> blocks_;  // that each worker did in the last run
  std::vector<Buffer> results_;
  std::vector<BurstLog> bursts_;
  std::vector<double> counter_values_;
  Team::Function work_;
};

}  // namespace nameplate
