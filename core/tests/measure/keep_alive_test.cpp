#include "measure/keep_alive.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "measure/clock.h"

namespace nameplate {
namespace {

Ticks shortest_of(void (*work)()) {
  Ticks shortest = ~Ticks{0};
  for (int i = 0; i < 20; ++i) {
    const Ticks start = Clock::now();
    work();
    shortest = std::min(shortest, Clock::now() - start);
  }
  return shortest;
}

constexpr unsigned kSteps = 100'000;

// Without keep_alive the compiler would remove the first loop too, since nobody reads its products.
TEST(KeepAlive, WorkThatNobodyReadsIsStillDone) {
#ifndef __OPTIMIZE__
  GTEST_SKIP() << "built without optimisation, which removes nothing";
#endif
  const Ticks kept = shortest_of([] {
    for (unsigned i = 0; i < kSteps; ++i) keep_alive(i * i);
  });
  const Ticks nothing = shortest_of([] {
    for (unsigned i = 0; i < kSteps; ++i) static_cast<void>(i * i);
  });
  EXPECT_GT(kept, 10 * (nothing + 1));
}

}  // namespace
}  // namespace nameplate
