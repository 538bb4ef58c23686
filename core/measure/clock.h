// The clock for all timing.
//
// On x86-64 with an invariant time-stamp counter that the kernel trusts (it is the current clock source, or the guest's
// paravirtual clock is based on it), ticks are TSC ticks read with the fences of Intel's "How to Benchmark Code
// Execution Times" (2010), and their frequency is measured against CLOCK_MONOTONIC_RAW. Otherwise ticks are the
// nanoseconds of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <string>

#include "record/worker.h"

namespace nameplate {

struct ClockInfo {
  std::string source;       // "tsc" or "monotonic"
  double frequency_hz = 0;  // ticks per second
  double resolution_s = 0;  // the smallest step between two readings
  double cost_s = 0;        // the time of one reading
};

class Clock {
 public:
  // Returns the process's clock, calibrated on first use (about 20 ms).
  static const Clock& get();

  // Returns the current time in ticks. Preceding instructions have finished, and no later one has started.
  static Ticks now() { return uses_tsc_ ? tsc_now() : monotonic_now(); }

  const ClockInfo& info() const { return info_; }
  double seconds(Ticks ticks) const { return static_cast<double>(ticks) * seconds_per_tick_; }
  Ticks ticks(double seconds) const { return static_cast<Ticks>(seconds * info_.frequency_hz); }

 private:
  Clock();

  static Ticks tsc_now() {
#if defined(__x86_64__)
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t cpu = 0;
    // rdtscp waits for preceding instructions, lfence holds back later ones.
    asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(cpu) : : "memory");
    return (static_cast<Ticks>(high) << 32U) | low;
#else
    return 0;
#endif
  }

  static Ticks monotonic_now();

  inline static bool uses_tsc_ = false;

  ClockInfo info_;
  double seconds_per_tick_ = 0;
};

// Returns CLOCK_MONOTONIC_RAW in nanoseconds, the reference for the TSC.
std::uint64_t monotonic_raw_ns();

}  // namespace nameplate
