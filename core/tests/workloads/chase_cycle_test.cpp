#include "workloads/chase_cycle.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "machine/topology.h"
#include "probe/error.h"

namespace nameplate {
namespace {

// More than one, so that their parts must fit together.
std::unique_ptr<Team> makers() { return make_thread_team(3, read_topology(Root()).allowed); }

TEST(ChaseCycle, VisitsEverySlotOnceAndCloses) {
  for (const std::size_t stride : {64U, 256U, 4096U}) {
    const ChaseCycle cycle(256 << 10, stride, Pages::small, 1, *makers());
    std::set<std::size_t> slots;
    const ChaseStop* at = cycle.starts().front();
    for (std::uint64_t i = 0; i < cycle.stops(); ++i, at = at->next) {
      EXPECT_EQ(at->ordinal, i);
      const auto* const address = reinterpret_cast<const std::byte*>(at);  // NOLINT: compares addresses
      slots.insert(static_cast<std::size_t>(address - cycle.memory().data()) / stride);
    }
    EXPECT_EQ(slots.size(), (256U << 10U) / stride);
    EXPECT_EQ(at, cycle.starts().front());
    cycle.verify();
  }
}

TEST(ChaseCycle, OneStopPerPageIsOnManyDifferentLines) {
  const ChaseCycle cycle(1 << 20, 4096, Pages::small, 1, *makers());
  std::set<std::size_t> lines;
  const ChaseStop* at = cycle.starts().front();
  for (std::uint64_t i = 0; i < cycle.stops(); ++i, at = at->next) {
    const auto* const address = reinterpret_cast<const std::byte*>(at);  // NOLINT: compares addresses
    lines.insert(static_cast<std::size_t>(address - cycle.memory().data()) % 4096 / 64);
  }
  EXPECT_GT(lines.size(), 48U);
}

TEST(ChaseCycle, WalkersBeginApart) {
  const ChaseCycle cycle(64 << 10, 64, Pages::small, 4, *makers());
  ASSERT_EQ(cycle.starts().size(), 4U);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(cycle.starts()[i]->ordinal, 256U * i);
}

TEST(ChaseCycle, ABrokenCycleIsDetected) {
  const ChaseCycle cycle(4096, 64, Pages::small, 1, *makers());
  auto* const stop = const_cast<ChaseStop*>(cycle.starts().front()->next->next);  // NOLINT: to break it
  stop->next = stop->next->next;
  EXPECT_THROW(cycle.verify(), ProbeError);
}

TEST(ChaseLoop, TakesEveryChainTheSameNumberOfSteps) {
  const ChaseCycle cycle(64 << 10, 64, Pages::small, kMaxChains, *makers());
  for (unsigned chains = 1; chains <= kMaxChains; ++chains) {
    std::vector<const ChaseStop*> walkers(cycle.starts().begin(), cycle.starts().begin() + chains);
    chase_loop(chains)(walkers.data(), 3);
    for (unsigned i = 0; i < chains; ++i) {
      EXPECT_EQ(walkers[i]->ordinal, (cycle.starts()[i]->ordinal + 3 * kChaseUnroll) % cycle.stops());
    }
  }
}

}  // namespace
}  // namespace nameplate
