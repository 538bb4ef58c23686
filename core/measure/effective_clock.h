// Measures the clock at which a core really runs, by short bursts of a dependent chain between pieces of the load in
// the same thread. With a burst of about 10 us every 8 ms the load loses 0.2 % of its time.
#pragma once

#include <cstdint>
#include <vector>

#include "record/worker.h"

namespace nameplate {

// Cycles per burst; at 3 GHz it takes 11 us, 500 times the cost of reading the clock.
inline constexpr std::uint64_t kBurstCycles = std::uint64_t{1} << 15U;

// Untimed cycles before a burst that follows a load, so that its last instructions have ended.
inline constexpr std::uint64_t kSettleCycles = kBurstCycles / 2;

// The time of the load between two bursts: the shortest sample, 10 ms, has two per worker, so that one interruption
// does not change the result.
inline constexpr double kBurstInterval_s = 8e-3;

// Runs one burst and returns its time in ticks, without the cost of reading the clock.
Ticks run_burst();

// Runs a burst after a load, once the core has settled. After a load of 512-bit vectors (`after_wide`) it continues
// with such vectors, so that the core keeps the clock that it has for them.
Ticks run_settled_burst(bool after_wide);

// The bursts of one worker in one sample. Aligned, so that two workers never write to the same cache line.
class alignas(64) BurstLog {
 public:
  BurstLog() { ticks_.reserve(kCapacity); }

  void clear() { ticks_.clear(); }

  // Runs a burst and stores its time; a sample with more than kCapacity bursts keeps the first ones.
  void burst(bool after_wide) {
    const Ticks ticks = run_settled_burst(after_wide);
    if (ticks_.size() < kCapacity) ticks_.push_back(ticks);
  }

  const std::vector<Ticks>& ticks() const { return ticks_; }

 private:
  static constexpr std::size_t kCapacity = 4096;
  std::vector<Ticks> ticks_;
};

// Returns the time of an undisturbed burst in seconds, 0 if there is none: the lower quartile, since an interruption
// makes single bursts longer and none shorter.
double undisturbed_burst_s(const std::vector<BurstLog>& logs);

}  // namespace nameplate
