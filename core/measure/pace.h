// Schedules a worker's operations at a given rate: an open loop, which keeps the planned starts however long earlier
// operations take.
#pragma once

#include <ctime>

#include "measure/clock.h"

namespace nameplate {

class Pace {
 public:
  Pace(double interval_s, double delay_s)
      : interval_(Clock::get().ticks(interval_s)), delay_(Clock::get().ticks(delay_s)) {}

  void start() { start_ = Clock::now(); }
  // Starts a sequence directly after the last one, whatever the time: it catches up with what was missed in between.
  void follow_on() { start_ = end_; }
  Ticks planned(std::uint64_t index) const { return start_ + delay_ + index * interval_; }

  // A sequence lasts as long as all its intervals; without the last one, a short sequence would appear faster than
  // requested. Its delay is shorter than one interval.
  Ticks end(std::uint64_t operations) { return end_ = start_ + operations * interval_; }
  void finish(std::uint64_t operations) { wait_until(end(operations)); }

  // Sleeps until shortly before, and then polls the clock, since a sleeping thread wakes up late.
  static void wait_until(Ticks when) {
    constexpr double kSpin_s = 80e-6;
    constexpr double kNanoseconds = 1e9;
    for (Ticks now = Clock::now(); now < when; now = Clock::now()) {
      const double left_s = Clock::get().seconds(when - now);
      if (left_s <= 2 * kSpin_s) continue;
      const double sleep_s = left_s - kSpin_s;
      const timespec pause{
          .tv_sec = static_cast<time_t>(sleep_s),
          .tv_nsec = static_cast<long>((sleep_s - static_cast<double>(static_cast<time_t>(sleep_s))) * kNanoseconds)};
      nanosleep(&pause, nullptr);
    }
  }

 private:
  Ticks interval_;
  Ticks delay_;
  Ticks start_ = 0;
  Ticks end_ = 0;
};

}  // namespace nameplate
