#include "disk/memory_mount.h"

#include <gtest/gtest.h>

#include "probe/error.h"
#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

class MemoryMountTest : public FakeRoot {
 protected:
  void SetUp() override {
    FakeRoot::SetUp();
    put("/proc/self/mountinfo",
        "22 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw\n"
        "23 22 259:0 / /pmem/0 rw - ext4 /dev/pmem0 rw,dax=always\n"
        "24 22 259:1 / /pmem/1 rw - xfs /dev/pmem1 rw,dax\n"
        "25 22 259:3 / /pmem/never rw - ext4 /dev/pmem2 rw,dax=never\n"
        "26 22 0:44 / /in/memory rw - tmpfs tmpfs rw");
    topology_.numa_nodes = {{.index = 1, .cpus = "2-3", .memory_bytes = 1},
                            {.index = 0, .cpus = "0-1", .memory_bytes = 1}};
  }

  void device_on(const std::string& number, int node) const {
    put("/sys/dev/block/" + number + "/device/numa_node", std::to_string(node));
  }
  std::string nearest(const std::vector<unsigned>& cpus) {
    topology_.allowed.cpus = cpus;
    return nearest_directory(root(), topology_, {"/pmem/0", "/pmem/1"});
  }

 private:
  Topology topology_;
};

TEST_F(MemoryMountTest, TheKindOfAMountIsDetected) {
  EXPECT_EQ(mount_at(root(), "/pmem/0").kind, MountKind::dax);
  EXPECT_EQ(mount_at(root(), "/pmem/1/below").kind, MountKind::dax);
  EXPECT_EQ(mount_at(root(), "/pmem/1").file_system, "xfs");
  EXPECT_EQ(mount_at(root(), "/pmem/never").kind, MountKind::file);
  EXPECT_EQ(mount_at(root(), "/nowhere").kind, MountKind::file);
  EXPECT_EQ(mount_at(root(), "/in/memory").kind, MountKind::memory);
}

TEST_F(MemoryMountTest, TheNearestMountHasTheNearestDevice) {
  device_on("259:0", 1);
  device_on("259:1", 0);
  put("/sys/devices/system/node/node0/distance", "10 21");
  put("/sys/devices/system/node/node1/distance", "21 10");
  EXPECT_EQ(nearest({0, 1}), "/pmem/1");
  EXPECT_EQ(nearest({2, 3}), "/pmem/0");
}

TEST_F(MemoryMountTest, WithoutKnownDevicesMountsAreAssignedToNodesInOrder) {
  device_on("259:0", -1);
  EXPECT_EQ(nearest({0}), "/pmem/0");
  EXPECT_EQ(nearest({3}), "/pmem/1");
}

TEST_F(MemoryMountTest, AnUnboundRankIsNearToNoMount) {
  EXPECT_THROW(nearest({1, 2}), ProbeError);
  EXPECT_EQ(nearest_directory(root(), {}, {"/pmem/1"}), "/pmem/1");
}

TEST_F(MemoryMountTest, AMissingDirectoryOfTheListIsNamed) {
  EXPECT_EQ(directories_in("/proc:/sys"), (std::vector<std::string>{"/proc", "/sys"}));
  for (const std::string list : {"/proc:/nowhere", ":/proc", "", "/proc/version"}) {
    EXPECT_THROW(directories_in(list), ProbeError) << list;
  }
}

}  // namespace
}  // namespace nameplate
