#include "machine/memory_budget.h"

#include "probe/error.h"
#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

class MemoryBudgetTest : public FakeRoot {
 protected:
  // Returns a machine with 8 GiB of memory, of which 4 GiB are available.
  Machine machine() const {
    put("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree:          100000 kB\nMemAvailable:    4194304 kB");
    Machine result;
    result.root = root();
    result.limits = read_limits(root());
    return result;
  }

  // Creates a control group with this limit and usage.
  void put_group(const std::string& limit, const std::string& used) const {
    put("/proc/self/cgroup", "0::/pod");
    put("/sys/fs/cgroup/cgroup.controllers", "memory");
    put("/sys/fs/cgroup/pod/memory.max", limit);
    put("/sys/fs/cgroup/pod/memory.current", used);
  }
};

std::string refusal(std::int64_t bytes, const Machine& machine) {
  try {
    require_memory(bytes, machine, "the array of size=5GiB");
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
    return error.what();
  }
  return "";
}

TEST_F(MemoryBudgetTest, WithoutALimitTheMachineDecides) {
  const auto budget = read_memory_budget(machine());
  EXPECT_EQ(budget->free_bytes, 4 * kGibi);
  EXPECT_EQ(budget->total_bytes, 8 * kGibi);
  EXPECT_EQ(budget->usable_bytes, 4 * kGibi / 100 * 90);
  EXPECT_FALSE(budget->of_group);
}

TEST_F(MemoryBudgetTest, TheGroupDecidesWhereItLeavesLess) {
  put_group("3221225472", "1073741824");
  const auto budget = read_memory_budget(machine());
  EXPECT_EQ(budget->free_bytes, 2 * kGibi);
  EXPECT_EQ(budget->total_bytes, 3 * kGibi);
  EXPECT_TRUE(budget->of_group);
}

TEST_F(MemoryBudgetTest, TheMachineDecidesWhereTheGroupLeavesMore) {
  put_group("7516192768", "0");
  EXPECT_FALSE(read_memory_budget(machine())->of_group);
}

TEST_F(MemoryBudgetTest, ReadsTheCurrentState) {
  const Machine before = machine();
  put("/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 1048576 kB");
  EXPECT_EQ(read_memory_budget(before)->free_bytes, kGibi);
}

TEST_F(MemoryBudgetTest, ASizeThatFitsIsAccepted) {
  EXPECT_EQ(refusal(3 * kGibi, machine()), "");
  EXPECT_EQ(refusal(0, machine()), "");
}

TEST_F(MemoryBudgetTest, ARejectionNamesTheSizes) {
  EXPECT_EQ(refusal(5 * kGibi, machine()),
            "the array of size=5GiB would take 5 GiB of memory, but 4 GiB of the machine's 8 GiB are free and 90 % of "
            "that may be used; choose a size that takes at most 3.6 GiB");
  put_group("1073741824", "536870912");
  EXPECT_EQ(refusal(5 * kGibi, machine()),
            "the array of size=5GiB would take 5 GiB of memory, but 512 MiB of the control group's limit of 1 GiB are "
            "free and 90 % of that may be used; choose a size that takes at most 460.8 MiB");
}

TEST_F(MemoryBudgetTest, UnknownMemoryIsNotRejected) {
  Machine unknown;
  unknown.root = root();
  EXPECT_FALSE(read_memory_budget(unknown));
  EXPECT_EQ(refusal(5 * kGibi, unknown), "");
}

}  // namespace
}  // namespace nameplate
