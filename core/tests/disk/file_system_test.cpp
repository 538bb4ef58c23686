#include "disk/file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "machine/descriptor.h"
#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

class FileSystemTest : public FakeRoot {
 protected:
  void SetUp() override {
    FakeRoot::SetUp();
    put("/proc/self/mountinfo",
        "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
        "23 22 0:21 / /proc rw - proc proc rw\n"
        "24 22 0:44 / /tmp rw,nosuid - tmpfs tmpfs rw,size=1g\n"
        "25 22 8:1 / /mnt/with\\040blank rw - xfs /dev/sda1 rw\n"
        "26 22 0:50 / /over rw - overlay overlay rw,lowerdir=/l,upperdir=/nowhere-to-be-seen,workdir=/w");
    put("/sys/dev/block/259:2/uevent", "MAJOR=259\nMINOR=2\nDEVNAME=nvme0n1p2\nDEVTYPE=partition");
  }
};

TEST_F(FileSystemTest, TheMountOfAPathIsTheNearestOne) {
  EXPECT_EQ(file_system_of(root(), "/home/me").type, "ext4");
  EXPECT_EQ(file_system_of(root(), "/home/me").device, "nvme0n1p2");
  EXPECT_EQ(file_system_of(root(), "/tmpfiles").type, "ext4");
  EXPECT_EQ(file_system_of(root(), "/mnt/with blank/x").number, "8:1");
}

TEST_F(FileSystemTest, FileSystemsInMemoryAreRecognised) {
  EXPECT_TRUE(file_system_of(root(), "/tmp/x").is_memory);
  EXPECT_FALSE(file_system_of(root(), "/home").is_memory);
}

TEST_F(FileSystemTest, AnOverlayWithAnInvisibleLayerHasNoDevice) {
  const FileSystem system = file_system_of(root(), "/over/x");
  EXPECT_EQ(system.type, "overlay");
  EXPECT_EQ(system.device, "");
  EXPECT_FALSE(link_of(root(), system));
}

TEST_F(FileSystemTest, TheLinkOfAnNvmeDeviceIsThatOfItsController) {
  put("/sys/dev/block/259:0/device/device/current_link_speed", "8.0 GT/s PCIe");
  put("/sys/dev/block/259:0/device/device/current_link_width", "4");
  const auto link = link_of(root(), {.type = "ext4", .device = "nvme0n1", .number = "259:0"});
  ASSERT_TRUE(link);
  EXPECT_NEAR(link->bytes_per_s, 3.938e9, 1e6);
  EXPECT_EQ(link->name, "PCIe 8 GT/s x4");
}

TEST_F(FileSystemTest, AMappedDeviceStandsForTheOnlyOneBelowIt) {
  put("/sys/dev/block/254:0/slaves/sda/dev", "8:0");
  put("/sys/dev/block/8:0/device/device/current_link_speed", "16.0 GT/s PCIe");
  put("/sys/dev/block/8:0/device/device/current_link_width", "4");
  const auto link = link_of(root(), {.type = "xfs", .device = "dm-0", .number = "254:0"});
  ASSERT_TRUE(link);
  EXPECT_NEAR(link->bytes_per_s, 7.877e9, 1e6);
  EXPECT_FALSE(link_of(root(), {.type = "xfs", .device = "vda", .number = "252:0"}));
}

TEST_F(FileSystemTest, TrafficIsCountedInBytes) {
  put("/proc/self/io", "rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0");
  put("/sys/dev/block/259:2/stat", "  10 0 16 5 20 0 32 7 0 12 12 0 0 0 0 0 0");
  const StorageTraffic traffic = read_traffic(root(), file_system_of(root(), "/home"));
  EXPECT_EQ(traffic.process_read_bytes, 4096);
  EXPECT_EQ(traffic.process_write_bytes, 8192);
  EXPECT_EQ(traffic.device_read_bytes, 16 * 512);
  EXPECT_EQ(traffic.device_write_bytes, 32 * 512);
  EXPECT_EQ(read_traffic(Root("/nowhere"), {}).process_read_bytes, -1);
}

TEST(Extents, OfAFallocatedFileAreUnwritten) {
  const Descriptor file(open(".", O_TMPFILE | O_RDWR, 0600));
  if (!file.is_open() || posix_fallocate(file.number(), 0, 1 << 20) != 0) GTEST_SKIP() << "not on this file system";
  const auto extents = read_extents(file.number());
  if (!extents) GTEST_SKIP() << "this file system does not report its extents";
  EXPECT_EQ(extents->unwritten_bytes, 1U << 20U);
}

}  // namespace
}  // namespace nameplate
