#include "machine/disturbance.h"

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

constexpr const char* kThrottles = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";

TEST_F(FakeRoot, DisturbancesAreThoseOfTheFilesAtEachReading) {
  const Limits limits{.cpu_stat_path = "/sys/fs/cgroup/cpu.stat"};
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 800 9 10\n");
  put(limits.cpu_stat_path, "usage_usec 5\nnr_periods 10\nnr_throttled 3\n");
  put(kThrottles, "7\n");
  DisturbanceReader reader(root(), limits);
  const Disturbance before = reader.read();
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 850 9 10\n");
  put(limits.cpu_stat_path, "usage_usec 6\nnr_periods 12\nnr_throttled 4\n");
  put(kThrottles, "12\n");
  const Disturbance difference = reader.read() - before;
  EXPECT_DOUBLE_EQ(*difference.system.steal_s, 0.5);
  EXPECT_EQ(difference.system.cgroup_throttled, 1);
  EXPECT_EQ(difference.system.thermal_throttled, 5);
}

TEST_F(FakeRoot, TheFilesAreLeftAloneUntilTheyAreDue) {
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 800 9 10\n");
  DisturbanceReader reader(root(), {});
  const Disturbance first = reader.read();
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 850 9 10\n");
  EXPECT_DOUBLE_EQ(*(reader.read() - first).system.steal_s, 0.5);  // read() does not wait
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 900 9 10\n");
  bool was_left_alone = false;
  Disturbance difference;
  do {
    difference = reader.read_if_due() - first;
    was_left_alone = was_left_alone || *difference.system.steal_s < 1.0;
  } while (*difference.system.steal_s < 1.0);
  EXPECT_TRUE(was_left_alone);
  EXPECT_DOUBLE_EQ(*difference.system.steal_s, 1.0);
}

TEST_F(FakeRoot, WithoutTheFilesNothingIsKnownOfADisturbance) {
  const Disturbance now = DisturbanceReader(root(), {.cpu_stat_path = "/sys/fs/cgroup/cpu.stat"}).read();
  EXPECT_FALSE(now.system.steal_s);
  EXPECT_FALSE(now.system.cgroup_throttled);
  EXPECT_FALSE(now.system.thermal_throttled);
}

TEST_F(FakeRoot, StealIsUnknownOfAnOldKernelThatDoesNotCountIt) {
  put("/proc/stat", "cpu  1 2 3 4 5 6 7\n");
  EXPECT_FALSE(DisturbanceReader(root(), {}).read().system.steal_s);
}

}  // namespace
}  // namespace nameplate
