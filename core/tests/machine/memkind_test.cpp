#include "machine/memkind.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "probe/error.h"

namespace nameplate {
namespace {

class MemkindHeap : public testing::Test {
 protected:
  void SetUp() override {
#ifndef NAMEPLATE_HAS_MEMKIND
    GTEST_SKIP() << "memkind is not built in";
#endif
  }
};

TEST_F(MemkindHeap, SeveralHeapsAreUsableAtOnceAndHaveNoName) {
  const std::filesystem::path directory = testing::TempDir() + "nameplate-memkind";
  std::filesystem::create_directories(directory);
  for (int round = 0; round < 3; ++round) {
    const Buffer first = allocate_memkind(directory, 5'000'000);
    const Buffer second = allocate_memkind(directory, 10'000);
    first.as<double>().back() = 1;
    second.as<double>().back() = 2;
    EXPECT_EQ(first.as<double>().back(), 1);
    EXPECT_TRUE(std::filesystem::is_empty(directory));
  }
  std::filesystem::remove_all(directory);
}

TEST_F(MemkindHeap, AHeapThatCannotBeCreatedIsReported) {
  EXPECT_THROW(allocate_memkind("/proc", 4096), ProbeError);
  try {
    allocate_memkind("/dev/shm", std::size_t{1} << 45);
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
  }
}

}  // namespace
}  // namespace nameplate
