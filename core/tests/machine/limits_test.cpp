#include "machine/limits.h"

#include "machine/disturbance.h"
#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

TEST_F(FakeRoot, Version2UsesTheTightestLimitOfTheGroupAndItsAncestors) {
  put("/proc/self/cgroup", "0::/pod/container");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory");
  put("/sys/fs/cgroup/pod/cpu.max", "150000 100000");
  put("/sys/fs/cgroup/pod/container/cpu.max", "max 100000");
  put("/sys/fs/cgroup/pod/memory.max", "max");
  put("/sys/fs/cgroup/pod/container/memory.max", "1073741824");
  put("/sys/fs/cgroup/pod/cpu.stat", "nr_periods 10\nnr_throttled 3\n");
  put("/sys/fs/cgroup/pod/container/cpu.stat", "nr_periods 0\nnr_throttled 0\n");
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.cgroup_version, 2);
  EXPECT_DOUBLE_EQ(*limits.cpus, 1.5);
  EXPECT_EQ(*limits.memory_bytes, 1073741824);
  EXPECT_EQ(DisturbanceReader(root(), limits).read().system.cgroup_throttled, 3);
}

TEST_F(FakeRoot, AQuotaThatIsNoNumberIsNotKnown) {
  put("/proc/self/cgroup", "0::/pod");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory");
  for (const char* text : {"abc def", "50000", "50000 0", "0 100000", "-1 100000", "nan 100000", "50000 100000 x", "",
                           "maximum 100000", "1e5 100000"}) {
    put("/sys/fs/cgroup/pod/cpu.max", text);
    const Limits limits = read_limits(root());
    EXPECT_FALSE(limits.are_visible) << text;
    EXPECT_EQ(limits.cpus, std::nullopt) << text;
  }
  for (const char* text : {"max 100000", "max", "50000 100000"}) {
    put("/sys/fs/cgroup/pod/cpu.max", text);
    EXPECT_TRUE(read_limits(root()).are_visible) << text;
  }
}

TEST_F(FakeRoot, AQuotaOfVersion1ThatIsNoNumberIsNotKnown) {
  put("/proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/a\n");
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096000");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  for (const char* text : {"abc", "0", ""}) {
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", text);
    EXPECT_FALSE(read_limits(root()).are_visible) << text;
  }
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1");
  EXPECT_TRUE(read_limits(root()).are_visible);
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

TEST_F(FakeRoot, TheGroupWithTheSmallestQuotaCountsThrottling) {
  put("/proc/self/cgroup", "0::/pod/container");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu");
  put("/sys/fs/cgroup/pod/cpu.max", "150000 100000");
  put("/sys/fs/cgroup/pod/cpu.stat", "nr_throttled 1\n");
  put("/sys/fs/cgroup/pod/container/cpu.stat", "nr_throttled 2\n");
  EXPECT_EQ(read_limits(root()).cpu_stat_path, "/sys/fs/cgroup/pod/cpu.stat");
  put("/sys/fs/cgroup/pod/container/cpu.max", "50000 100000");
  EXPECT_EQ(read_limits(root()).cpu_stat_path, "/sys/fs/cgroup/pod/container/cpu.stat");
  put("/proc/self/cgroup", "2:cpu,cpuacct:/a/b\n");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000");
  put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  put("/sys/fs/cgroup/cpu/a/cpu.stat", "nr_throttled 1\n");
  put("/sys/fs/cgroup/cpu/a/b/cpu.stat", "nr_throttled 2\n");
  EXPECT_EQ(read_limits(root()).cpu_stat_path, "/sys/fs/cgroup/cpu/a/cpu.stat");
}

TEST_F(FakeRoot, AvailableMemoryIsTheLimitMinusWhatCannotBeReclaimed) {
  put("/proc/self/cgroup", "0::/pod");
  put("/sys/fs/cgroup/cgroup.controllers", "memory");
  put("/sys/fs/cgroup/pod/memory.max", "1000");
  put("/sys/fs/cgroup/pod/memory.current", "700");
  put("/sys/fs/cgroup/pod/memory.stat", "anon 300\nfile 400\nshmem 150\ninactive_file 200\nactive_file 50\n");
  EXPECT_EQ(read_limits(root()).memory_available_bytes, 550);
}

TEST_F(FakeRoot, AnyAncestorMayLeaveTheLeastMemory) {
  put("/proc/self/cgroup", "0::/pod/container");
  put("/sys/fs/cgroup/cgroup.controllers", "memory");
  put("/sys/fs/cgroup/pod/memory.max", "1000");
  put("/sys/fs/cgroup/pod/memory.current", "900");
  put("/sys/fs/cgroup/pod/container/memory.max", "800");
  put("/sys/fs/cgroup/pod/container/memory.current", "100");
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.memory_bytes, 800);
  EXPECT_EQ(limits.memory_available_bytes, 100);
  const auto left = read_memory_left(root(), limits);
  EXPECT_EQ(left->limit_bytes, 1000);
  put("/sys/fs/cgroup/pod/memory.current", "200");
  EXPECT_EQ(read_memory_left(root(), limits)->left_bytes, 700);
}

TEST_F(FakeRoot, LimitsAreHiddenWithoutTheirFileSystem) {
  put("/proc/self/cgroup", "0::/");
  EXPECT_FALSE(read_limits(root()).are_visible);
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory");
  EXPECT_TRUE(read_limits(root()).are_visible);
  put("/proc/self/cgroup", "4:memory:/a/b\n2:cpu:/\n");
  EXPECT_FALSE(read_limits(root()).are_visible);
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000");
  EXPECT_FALSE(read_limits(root()).are_visible);
  put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_TRUE(read_limits(root()).are_visible);
}

TEST_F(FakeRoot, AVersion1ControllerIsFoundWhereverItIsMounted) {
  put("/proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/a\n");
  put("/proc/self/mountinfo",
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
      "33 31 0:30 / /mnt/control\\040groups rw - cgroup memory rw,memory\n");
  std::filesystem::create_directories(path("/sys/fs/cgroup/cpu/a"));  // an empty directory of the usual name
  put("/sys/fs/cgroup/cpu,cpuacct/cgroup.procs", "");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "25000");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", "nr_throttled 3\n");
  put("/mnt/control groups/cgroup.procs", "");
  put("/mnt/control groups/a/memory.limit_in_bytes", "4096000");
  const Limits limits = read_limits(root());
  EXPECT_TRUE(limits.are_visible);
  EXPECT_EQ(limits.cpus, 0.25);
  EXPECT_EQ(limits.memory_bytes, 4096000);
  EXPECT_EQ(DisturbanceReader(root(), limits).read().system.cgroup_throttled, 3);
}

TEST_F(FakeRoot, AMountThatAnotherOneCoversIsNotUsed) {
  put("/proc/self/cgroup", "2:cpu:/a\n");
  put("/proc/self/mountinfo",
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "40 23 0:50 / /sys/fs/cgroup rw - tmpfs none rw\n"
      "41 40 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu\n");
  std::filesystem::create_directories(path("/sys/fs/cgroup/cpu"));
  EXPECT_FALSE(read_limits(root()).are_visible);
  put("/sys/fs/cgroup/cpu,cpuacct/cgroup.procs", "");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000");
  put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(read_limits(root()).cpus, 0.5);
}

TEST_F(FakeRoot, AMountMayShowAPartOfTheHierarchy) {
  put("/proc/self/cgroup", "0::/pod/container/worker");
  put("/proc/self/mountinfo", "32 31 0:29 /pod/container /cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  put("/cgroup/cgroup.procs", "");
  put("/cgroup/cpu.max", "150000 100000");
  put("/cgroup/worker/cpu.max", "max 100000");
  put("/cgroup/worker/memory.max", "4096");
  const Limits limits = read_limits(root());
  EXPECT_TRUE(limits.are_visible);
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 4096);
  put("/proc/self/cgroup", "0::/pod/container2");  // begins like the part that is mounted
  EXPECT_FALSE(read_limits(root()).are_visible);
}

TEST_F(FakeRoot, AGroupOutsideTheCgroupNamespaceIsNotVisible) {
  put("/proc/self/cgroup", "0::/../other");
  put("/proc/self/mountinfo", "32 31 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("/sys/fs/cgroup/cgroup.procs", "");
  put("/sys/fs/other/cpu.max", "1000 100000");  // where the path would lead
  EXPECT_FALSE(read_limits(root()).are_visible);
  EXPECT_FALSE(read_limits(root()).cpus);
  put("/proc/self/mountinfo", "32 31 0:29 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  put("/sys/fs/cgroup/other/cpu.max", "50000 100000");
  EXPECT_TRUE(read_limits(root()).are_visible);
  EXPECT_EQ(read_limits(root()).cpus, 0.5);
}

TEST_F(FakeRoot, InAHybridEachControllerHasItsOwnVersion) {
  put("/proc/self/cgroup", "2:cpu,cpuacct:/a\n0::/b\n");
  put("/proc/self/mountinfo",
      "32 31 0:29 / /cgroups/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "33 31 0:30 / /cgroups/unified rw - cgroup2 cgroup2 rw\n");
  put("/cgroups/cpu/cgroup.procs", "");
  put("/cgroups/cpu/a/cpu.cfs_quota_us", "25000");
  put("/cgroups/cpu/a/cpu.cfs_period_us", "100000");
  put("/cgroups/unified/cgroup.procs", "");
  put("/cgroups/unified/b/memory.max", "1000");
  put("/cgroups/unified/b/memory.current", "400");
  const Limits limits = read_limits(root());
  EXPECT_TRUE(limits.are_visible);
  EXPECT_EQ(limits.cgroup_version, 1);
  EXPECT_EQ(limits.cpus, 0.25);
  EXPECT_EQ(limits.memory_bytes, 1000);
  EXPECT_EQ(limits.memory_available_bytes, 600);
}

TEST_F(FakeRoot, OfSeveralMountsTheOneWithMostAncestorsCounts) {
  put("/proc/self/cgroup", "0::/pod/container");
  put("/proc/self/mountinfo",
      "32 31 0:29 / /whole rw - cgroup2 cgroup2 rw\n"
      "33 31 0:29 /pod/container /part rw - cgroup2 cgroup2 rw\n");
  put("/whole/cgroup.procs", "");
  put("/whole/pod/cpu.max", "50000 100000");
  put("/whole/pod/container/cpu.max", "max 100000");
  put("/part/cgroup.procs", "");
  put("/part/cpu.max", "max 100000");
  EXPECT_EQ(read_limits(root()).cpus, 0.5);
}

TEST_F(FakeRoot, AQuotaThatCannotBeReadIsNotVisible) {
  put("/proc/self/cgroup", "0::/pod");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu");
  std::filesystem::create_directories(path("/sys/fs/cgroup/pod/cpu.max"));
  EXPECT_FALSE(read_limits(root()).are_visible);
}

TEST_F(FakeRoot, MemoryWhoseUsageIsUnknownIsNotAllFree) {
  put("/proc/self/cgroup", "0::/pod");
  put("/sys/fs/cgroup/cgroup.controllers", "memory");
  put("/sys/fs/cgroup/pod/memory.max", "1000");
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.memory_bytes, 1000);
  EXPECT_FALSE(limits.memory_available_bytes);
  EXPECT_EQ(read_memory_left(root(), limits)->left_bytes, 1000);
}

TEST_F(FakeRoot, Version2CountsMemoryHigh) {
  put("/proc/self/cgroup", "0::/pod");
  put("/sys/fs/cgroup/cgroup.controllers", "memory");
  put("/sys/fs/cgroup/pod/memory.max", "max");
  put("/sys/fs/cgroup/pod/memory.high", "500");
  EXPECT_EQ(read_limits(root()).memory_bytes, 500);
}

TEST_F(FakeRoot, Version1IncludesChildGroups) {
  put("/proc/self/cgroup", "4:memory:/a/b\n2:cpu:/\n");
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000");
  put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "600");
  put("/sys/fs/cgroup/memory/a/memory.stat",
      "cache 5\nactive_file 5\nhierarchical_memsw_limit 18446744073709551615\n"
      "total_cache 300\ntotal_inactive_file 90\ntotal_active_file 10\n");
  put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.memory_bytes, 1000);
  EXPECT_EQ(limits.memory_available_bytes, 500);
}

TEST_F(FakeRoot, AGroupAboveItsLimitLeavesNothing) {
  put("/proc/self/cgroup", "0::/pod");
  put("/sys/fs/cgroup/cgroup.controllers", "memory");
  put("/sys/fs/cgroup/pod/memory.max", "1000");
  put("/sys/fs/cgroup/pod/memory.current", "1200");
  EXPECT_EQ(read_limits(root()).memory_available_bytes, 0);
  put("/sys/fs/cgroup/pod/memory.stat", "inactive_file 5000\n");  // read at another moment than the usage
  EXPECT_EQ(read_limits(root()).memory_available_bytes, 1000);
}

TEST_F(FakeRoot, WithoutCgroupsThereIsNoLimit) {
  const Limits limits = read_limits(root());
  EXPECT_EQ(limits.cgroup_version, 0);
  EXPECT_FALSE(limits.cpus);
  EXPECT_FALSE(limits.memory_bytes);
  EXPECT_FALSE(limits.memory_available_bytes);
  EXPECT_FALSE(read_memory_left(root(), limits));
}

TEST_F(FakeRoot, StealIsTheEighthNumberInTicks) {
  put("/proc/stat", "cpu  10 20 30 40 50 60 70 800 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10");
  const Disturbance now = DisturbanceReader(root(), {}).read();
  EXPECT_DOUBLE_EQ(*now.system.steal_s, 8.0);
  EXPECT_FALSE(now.system.thermal_throttled);
}

}  // namespace
}  // namespace nameplate
