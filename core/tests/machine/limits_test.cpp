#include "machine/limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "machine/disturbance.h"

namespace nameplate {
namespace {

// A directory of files that stands for a machine.
class FakeRoot : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "nameplate-root-" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(directory_ + path).parent_path());
    std::ofstream(directory_ + path) << text << '\n';
  }
  Root root() const { return Root(directory_); }

 private:
  std::string directory_;
};

TEST_F(FakeRoot, Version2TakesTheTightestOfTheGroupAndThoseAroundIt) {
  put("/proc/self/cgroup", "0::/pod/container");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory");
  put("/sys/fs/cgroup/pod/cpu.max", "150000 100000");
  put("/sys/fs/cgroup/pod/container/cpu.max", "max 100000");
  put("/sys/fs/cgroup/pod/memory.max", "max");
  put("/sys/fs/cgroup/pod/container/memory.max", "1073741824");
  put("/sys/fs/cgroup/pod/container/cpu.stat", "nr_periods 10\nnr_throttled 3\n");
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.cgroup_version, 2);
  EXPECT_DOUBLE_EQ(*limits.cpus, 1.5);
  EXPECT_EQ(*limits.memory_bytes, 1073741824);
  EXPECT_EQ(DisturbanceReader(root(), limits).read().cgroup_throttled, 3);
}

TEST_F(FakeRoot, Version1ReadsEachController) {
  put("/proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/a\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096000");
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.cgroup_version, 1);
  EXPECT_DOUBLE_EQ(*limits.cpus, 0.5);
  EXPECT_EQ(*limits.memory_bytes, 4096000);
}

TEST_F(FakeRoot, WithoutCgroupsThereIsNoLimit) {
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.cgroup_version, 0);
  EXPECT_FALSE(limits.cpus);
  EXPECT_FALSE(limits.memory_bytes);
}

TEST_F(FakeRoot, StealIsTheEighthNumberInTicks) {
  put("/proc/stat", "cpu  10 20 30 40 50 60 70 800 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10");
  const Disturbance now = DisturbanceReader(root(), {}).read();
  EXPECT_DOUBLE_EQ(*now.steal_s, 8.0);
  EXPECT_FALSE(now.thermal_throttled);
}

}  // namespace
}  // namespace nameplate
