// The clock for all timing.
//
// Ticks are those of the processor's counter of time, if the kernel itself keeps the time by it. Their frequency is
// measured against CLOCK_MONOTONIC_RAW. Otherwise ticks are the nanoseconds of CLOCK_MONOTONIC.
//
// - x86-64: the time-stamp counter, if it is invariant. A guest's kernel may keep the time by a paravirtual clock that
//   is based on it. It is read with the fences of Intel's "How to Benchmark Code Execution Times" (2010).
// - 64-bit Arm: the virtual count of the generic timer (CNTVCT_EL0), whose rate is fixed (Arm Architecture Reference
//   Manual, D12). It is read between two instruction barriers.
#pragma once

#include <cstdint>
#include <string>

#include "record/worker.h"

namespace nameplate {

struct ClockInfo {
  std::string source;       // "tsc", "cntvct" or "monotonic"
  double frequency_hz = 0;  // ticks per second
  double resolution_s = 0;  // the smallest step between two readings
  double cost_s = 0;        // the time of one reading
};

class Clock {
 public:
  // Returns the process's clock, calibrated on first use (about 20 ms).
  static const Clock& get();

  // Returns the current time in ticks. Preceding instructions have finished, and no later one has started.
  static Ticks now() { return uses_counter_ ? counter_now() : monotonic_now(); }

  // Returns the processor's counter, whether or not it is the clock; 0 on an architecture without one.
  static Ticks counter_now() {
#if defined(__x86_64__)
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t cpu = 0;
    // rdtscp waits for preceding instructions, lfence holds back later ones.
    asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(cpu) : : "memory");
    return (static_cast<Ticks>(high) << 32U) | low;
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(count) : : "memory");
    return count;
#else
    return 0;
#endif
  }

  const ClockInfo& info() const { return info_; }
  double seconds(Ticks ticks) const { return static_cast<double>(ticks) * seconds_per_tick_; }
  Ticks ticks(double seconds) const { return static_cast<Ticks>(seconds * info_.frequency_hz); }

 private:
  Clock();

  static Ticks monotonic_now();

  inline static bool uses_counter_ = false;

  ClockInfo info_;
  double seconds_per_tick_ = 0;
};

// Returns the current time in seconds, from an arbitrary beginning.
inline double now_s() { return Clock::get().seconds(Clock::now()); }

// Returns CLOCK_MONOTONIC_RAW in nanoseconds, the reference for the counter.
std::uint64_t monotonic_raw_ns();

}  // namespace nameplate
