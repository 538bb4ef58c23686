#include "machine/page_size.h"

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

using PageSizeTest = FakeRoot;

constexpr std::size_t kKibi = 1024;

TEST_F(PageSizeTest, AnOrdinaryPageIsOneThatAKernelCanHave) {
  EXPECT_TRUE(page_bytes() == 4 * kKibi || page_bytes() == 16 * kKibi || page_bytes() == 64 * kKibi) << page_bytes();
}

TEST_F(PageSizeTest, AHugePageIsThatOfTheKernel) {
  put("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152");
  EXPECT_EQ(huge_page_bytes(root()), 2 * kKibi * kKibi);
  put("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "33554432");
  EXPECT_EQ(huge_page_bytes(root()), 32 * kKibi * kKibi);
}

TEST_F(PageSizeTest, AHugePageLargerThanMostArraysIsNotUsed) {
  put("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "536870912");
  EXPECT_EQ(huge_page_bytes(root()), page_bytes());
}

TEST_F(PageSizeTest, AKernelWithoutHugePagesHasTheUsualSize) { EXPECT_EQ(huge_page_bytes(root()), 2 * kKibi * kKibi); }

}  // namespace
}  // namespace nameplate
