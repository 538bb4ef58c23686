#include "machine/pmem.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "probe/error.h"

namespace nameplate {
namespace {

const std::string kInMemory = "/dev/shm";

class Pmem : public testing::Test {
 protected:
  void SetUp() override {
#ifndef NAMEPLATE_HAS_PMEM
    GTEST_SKIP() << "libpmem is not built in";
#endif
    unsetenv("PMEM_IS_PMEM_FORCE");  // NOLINT(concurrency-mt-unsafe)
  }
};

TEST_F(Pmem, AMappingIsUsableToItsEndAndHasNoName) {
  const std::filesystem::path directory = testing::TempDir() + "nameplate-pmem";
  std::filesystem::create_directories(directory);
  {
    const Buffer buffer = map_pmem(directory, 10'000);
    EXPECT_EQ(buffer.size_bytes(), 10'000U);
    buffer.as<double>().back() = 1;
    EXPECT_TRUE(std::filesystem::is_empty(directory));
    EXPECT_EQ(persist_function(Durability::none)(buffer.data() + 8, 8), 0);
    EXPECT_EQ(persist_function(Durability::persistent)(buffer.data(), buffer.size_bytes()), 0);
  }
  std::filesystem::remove_all(directory);
}

TEST_F(Pmem, UnmappedMemoryCannotBeSynchronised) {
  const std::byte* const nothing = nullptr;
  EXPECT_NE(persist_function(Durability::none)(nothing, 4096), 0);
}

TEST_F(Pmem, MemoryIsNotPersistentUnlessTheEnvironmentClaimsIt) {
  EXPECT_EQ(durability_in(kInMemory), Durability::none);
}

TEST_F(Pmem, AFileThatCannotBeCreatedIsReported) {
  try {
    map_pmem("/proc", 4096);
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::failed);
    EXPECT_NE(std::string(error.what()).find("in /proc"), std::string::npos);
  }
}

TEST_F(Pmem, AFileThatDoesNotFitTheMountIsRejected) {
  try {
    map_pmem(kInMemory, std::size_t{1} << 45);
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_EQ(error.ending(), Ending::skipped);
    EXPECT_NE(std::string(error.what()).find("is full"), std::string::npos);
  }
}

}  // namespace
}  // namespace nameplate
