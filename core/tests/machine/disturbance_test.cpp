#include "machine/disturbance.h"

#include <chrono>

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

// Each reading of the clock takes `step`.
struct SteppingClock {
  DisturbanceReader::Time time;
  std::chrono::microseconds step{0};

  DisturbanceReader::Now now() {
    return [this] { return time += step; };
  }
};

TEST_F(FakeRoot, TheFilesAreLeftAloneUntilAMillisecondHasPassed) {
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 800 9 10\n");
  SteppingClock clock;
  DisturbanceReader reader(root(), {}, clock.now());
  const Disturbance first = reader.read();
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 850 9 10\n");
  clock.time += std::chrono::microseconds(999);
  EXPECT_DOUBLE_EQ(*(reader.read_if_due() - first).system.steal_s, 0);
  EXPECT_DOUBLE_EQ(*(reader.read() - first).system.steal_s, 0.5);  // read() does not wait
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 900 9 10\n");
  clock.time += std::chrono::microseconds(999);
  EXPECT_DOUBLE_EQ(*(reader.read_if_due() - first).system.steal_s, 0.5);
  clock.time += std::chrono::microseconds(1);
  EXPECT_DOUBLE_EQ(*(reader.read_if_due() - first).system.steal_s, 1);
}

TEST_F(FakeRoot, FilesThatTakeLongToReadAreDueAfterTwoHundredTimesAsLong) {
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 800 9 10\n");
  SteppingClock clock{.time = {}, .step = std::chrono::microseconds(50)};
  DisturbanceReader reader(root(), {}, clock.now());
  const Disturbance first = reader.read();
  put("/proc/stat", "cpu  1 2 3 4 5 6 7 900 9 10\n");
  clock.step = {};
  clock.time += std::chrono::microseconds(9999);
  EXPECT_DOUBLE_EQ(*(reader.read_if_due() - first).system.steal_s, 0);
  clock.time += std::chrono::microseconds(1);
  EXPECT_DOUBLE_EQ(*(reader.read_if_due() - first).system.steal_s, 1);
}

TEST_F(FakeRoot, WithoutTheFilesNothingIsKnownOfADisturbance) {
  const Disturbance now = DisturbanceReader(root(), {.cpu_stat_path = "/sys/fs/cgroup/cpu.stat"}).read();
  EXPECT_FALSE(now.system.steal_s);
  EXPECT_FALSE(now.system.cgroup_throttled);
  EXPECT_FALSE(now.system.thermal_throttled);
}

TEST_F(FakeRoot, StealIsUnknownIfTheFileCountsNothing) {
  put("/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\n");
  EXPECT_FALSE(DisturbanceReader(root(), {}).read().system.steal_s);
  put("/proc/stat", "cpu  1 0 0 0 0 0 0 0 0 0\n");
  EXPECT_EQ(DisturbanceReader(root(), {}).read().system.steal_s, 0);
}

TEST_F(FakeRoot, ThermalThrottlingIsUnknownWhileOneCpuDoesNotTell) {
  put(kThrottles, "7\n");
  put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5\n");
  DisturbanceReader reader(root(), {});
  EXPECT_EQ(reader.read().system.thermal_throttled, 12);
  std::filesystem::remove(path(kThrottles));
  EXPECT_FALSE(reader.read().system.thermal_throttled);
}

TEST_F(FakeRoot, StealIsUnknownOfAnOldKernelThatDoesNotCountIt) {
  put("/proc/stat", "cpu  1 2 3 4 5 6 7\n");
  EXPECT_FALSE(DisturbanceReader(root(), {}).read().system.steal_s);
}

}  // namespace
}  // namespace nameplate
