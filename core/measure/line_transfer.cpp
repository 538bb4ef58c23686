#include "measure/line_transfer.h"

#include <sched.h>

#include <algorithm>
#include <limits>

#include "measure/clock.h"

namespace nameplate {

namespace {

constexpr std::uint32_t kTrips = 50;   // a batch is so short that few are interrupted
constexpr std::uint32_t kBatches = 8;  // the first one waits for the other side to arrive
constexpr unsigned kMaxPartners = 16;

// Much longer than a transfer takes. Then the other side does not run, perhaps since it needs this CPU.
constexpr int kSpins = 4000;

void wait_for(const SharedLine& line, std::uint32_t value) {
  for (int spin = 0; line.value.load(std::memory_order_acquire) != value; ++spin) {
    if (spin >= kSpins) sched_yield();
  }
}

}  // namespace

double time_line_round_trip_s(SharedLine& line) {
  const Clock& clock = Clock::get();  // before now() is read: the choice of the clock may change what it counts
  double shortest_s = std::numeric_limits<double>::infinity();
  std::uint32_t value = 0;
  for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
    const Ticks start = Clock::now();
    for (std::uint32_t trip = 0; trip < kTrips; ++trip) {
      line.value.store(value + 1, std::memory_order_release);
      value += 2;
      wait_for(line, value);
    }
    shortest_s = std::min(shortest_s, clock.seconds(Clock::now() - start) / kTrips);
  }
  return shortest_s;
}

void answer_line(SharedLine& line) {
  for (std::uint32_t value = 1; value < 2 * kTrips * kBatches; value += 2) {
    wait_for(line, value);
    line.value.store(value + 1, std::memory_order_release);
  }
}

double farthest_round_trip_s(Team& team) {
  if (team.size() < 2 || team.oversubscribed()) return 0;
  double farthest_s = 0;
  const unsigned step = (team.size() - 1 + kMaxPartners - 1) / kMaxPartners;
  for (unsigned partner = team.size() - 1; partner >= 1; partner -= std::min(step, partner)) {
    SharedLine line;
    team.run_untimed([&](unsigned worker) {
      if (worker == 0) farthest_s = std::max(farthest_s, time_line_round_trip_s(line));
      if (worker == partner) answer_line(line);
    });
  }
  return farthest_s;
}

}  // namespace nameplate
