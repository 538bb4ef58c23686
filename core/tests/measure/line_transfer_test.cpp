#include "measure/line_transfer.h"

#include <gtest/gtest.h>

#include <thread>

#include "machine/topology.h"

namespace nameplate {
namespace {

constexpr double kShortest_s = 1e-9;  // not even one core's own cache is that fast
constexpr double kLongest_s = 1e-3;

TEST(LineTransfer, IsARoundTripBetweenTwoWorkers) {
  const Placement here = read_topology(Root()).allowed;
  if (here.cpus.size() < 2) GTEST_SKIP() << "one CPU only";
  const double time_s = farthest_round_trip_s(*make_thread_team(2, here));
  EXPECT_GT(time_s, kShortest_s);
  EXPECT_LT(time_s, kLongest_s);
}

TEST(LineTransfer, IsUnknownOfOneWorkerAndOfWorkersThatShareCpus) {
  const Placement here = read_topology(Root()).allowed;
  EXPECT_EQ(farthest_round_trip_s(*make_thread_team(1, here)), 0);
  EXPECT_EQ(farthest_round_trip_s(*make_thread_team(static_cast<unsigned>(here.cpus.size()) + 1, here)), 0);
}

TEST(LineTransfer, EndsAlsoIfBothSidesShareACpu) {
  SharedLine line;
  double time_s = 0;
  {
    Placement one = read_topology(Root()).allowed;
    one.cpus.resize(1);
    const ScopedBinding binding(one.cpu_of(0));
    const std::jthread other([&line] { answer_line(line); });
    time_s = time_line_round_trip_s(line);
  }
  EXPECT_GT(time_s, kShortest_s);
}

}  // namespace
}  // namespace nameplate
