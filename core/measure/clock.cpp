#include "measure/clock.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <limits>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// A test build scales the clock, to show that the tests detect a wrong one.
#ifndef NAMEPLATE_CLOCK_SCALE
#define NAMEPLATE_CLOCK_SCALE 1.0
#endif

namespace nameplate {

namespace {

std::uint64_t read_ns(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * kNanoseconds + static_cast<std::uint64_t>(time.tv_nsec);
}

#if defined(__x86_64__)
constexpr const char* kCounter = "tsc";

bool counter_is_steady() {
  constexpr unsigned kPowerLeaf = 0x80000007;
  constexpr unsigned kInvariantTsc = 1U << 8U;
  std::array<unsigned, 4> registers{};
  if (__get_cpuid(kPowerLeaf, &registers[0], &registers[1], &registers[2], &registers[3]) == 0) return false;
  return (registers[3] & kInvariantTsc) != 0;
}
#elif defined(__aarch64__)
constexpr const char* kCounter = "cntvct";

bool counter_is_steady() { return true; }
#else
constexpr const char* kCounter = "";

bool counter_is_steady() { return false; }
#endif

// Linux keeps the time by another source if the CPUs' counters are not synchronised. The counter of an emulated CPU is
// made from the clock of the real one, so the sources of both count.
bool kernel_trusts_counter() {
  static constexpr std::array<std::string_view, 4> kSources = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                                               "arch_sys_counter"};
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return std::ranges::find(kSources, source) != kSources.end();
}

struct Pair {
  Ticks ticks = 0;
  std::uint64_t raw_ns = 0;
};

// Reads both clocks at the same instant: the tightest of several brackets, so that interruptions have no effect.
template <class Now>
Pair read_pair(Now now) {
  constexpr int kTries = 16;
  Pair best;
  Ticks narrowest = std::numeric_limits<Ticks>::max();
  for (int i = 0; i < kTries; ++i) {
    const Ticks before = now();
    const std::uint64_t raw = monotonic_raw_ns();
    const Ticks after = now();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, raw};
    }
  }
  return best;
}

template <class Now>
double measure_frequency(Now now) {
  constexpr std::uint64_t kCalibrationNs = 20'000'000;
  const Pair first = read_pair(now);
  while (monotonic_raw_ns() - first.raw_ns < kCalibrationNs) {
  }
  const Pair last = read_pair(now);
  return static_cast<double>(last.ticks - first.ticks) / (static_cast<double>(last.raw_ns - first.raw_ns) * 1e-9);
}

}  // namespace

std::uint64_t monotonic_raw_ns() { return read_ns(CLOCK_MONOTONIC_RAW); }

Ticks Clock::monotonic_now() { return read_ns(CLOCK_MONOTONIC); }

Clock::Clock() {
  uses_counter_ = counter_is_steady() && kernel_trusts_counter();
  info_.source = uses_counter_ ? kCounter : "monotonic";
  info_.frequency_hz = (uses_counter_ ? measure_frequency(counter_now) : 1e9) * NAMEPLATE_CLOCK_SCALE;
  seconds_per_tick_ = 1.0 / info_.frequency_hz;

  constexpr int kReadings = 4096;
  Ticks smallest = std::numeric_limits<Ticks>::max();
  const Ticks first = now();
  Ticks previous = first;
  int readings = 0;
  for (; readings < kReadings || previous == first; ++readings) {  // a coarse clock takes long to show a step
    const Ticks current = now();
    if (current > previous) smallest = std::min(smallest, current - previous);
    previous = current;
  }
  info_.resolution_s = seconds(smallest);
  info_.cost_s = seconds(previous - first) / readings;
}

const Clock& Clock::get() {
  static const Clock clock;
  return clock;
}

}  // namespace nameplate
