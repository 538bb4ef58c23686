// The clock that a core really runs at, by short bursts of a dependent chain put between pieces of the load in the
// same thread: the core has no time to change its clock, and with a burst of some 10 us every 8 ms the load loses 0.1 %
// of its time.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/register_chain.h"
#include "record/worker.h"

namespace nameplate {

// Cycles in one burst; at 3 GHz it takes 11 us, 500 times what reading the clock costs.
inline constexpr std::uint64_t kBurstCycles = std::uint64_t{1} << 15U;

// How long the load runs between two bursts: the shortest sample, 10 ms, has two on each worker, so that an
// interruption of one does not move the result.
inline constexpr double kBurstInterval_s = 8e-3;

// Runs one burst and returns its time in ticks, the cost of reading the clock taken off.
Ticks run_burst();

// The bursts of one worker in one sample. Aligned, so that two workers never write to the same cache line.
class alignas(64) BurstLog {
 public:
  BurstLog() { ticks_.reserve(kCapacity); }

  void clear() { ticks_.clear(); }

  // Runs a burst and notes its time; a sample with more than kCapacity bursts keeps the first ones.
  void burst() {
    const Ticks ticks = run_burst();
    if (ticks_.size() < kCapacity) ticks_.push_back(ticks);
  }

  const std::vector<Ticks>& ticks() const { return ticks_; }

 private:
  static constexpr std::size_t kCapacity = 4096;
  std::vector<Ticks> ticks_;
};

// The time of a burst that nothing interrupted, in seconds, 0 when there was none: the lower quartile of all, since an
// interruption makes single bursts longer and none shorter.
double undisturbed_burst_s(const std::vector<BurstLog>& logs);

}  // namespace nameplate
