#include "machine/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "machine/root.h"

namespace nameplate {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Buffer, IsAlignedAndUsableToItsEnd) {
  const Buffer small(10'000, Pages::small);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small.data()) % 4096, 0U);  // NOLINT
  small.as<double>().back() = 1;
  const Buffer huge(3 * kMiB, Pages::huge);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(huge.data()) % (2 * kMiB), 0U);  // NOLINT
  huge.data()[huge.size_bytes() - 1] = std::byte{1};
}

TEST(Buffer, GetsHugePagesOnRequestIfTheKernelHasThem) {
  const auto mode = Root().text("/sys/kernel/mm/transparent_hugepage/enabled").value_or("[never]");
  if (mode.find("[never]") != std::string::npos) GTEST_SKIP() << "transparent huge pages are off on this machine";
  const Buffer huge(8 * kMiB, Pages::huge);
  huge.touch(0, huge.size_bytes());
  const Buffer small(8 * kMiB, Pages::small);
  small.touch(0, small.size_bytes());
  EXPECT_GE(huge.huge_bytes(), 8 * static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(small.huge_bytes(), 0);
}

TEST(Buffer, MemoryOfAnotherLibraryIsReleasedOnce) {
  std::byte memory{};
  int given_back = 0;
  {
    Buffer buffer(&memory, 1, [&](std::byte* mine) { given_back += mine == &memory ? 1 : 100; });
    const Buffer moved = std::move(buffer);
    EXPECT_EQ(moved.data(), &memory);
    EXPECT_EQ(given_back, 0);
  }
  EXPECT_EQ(given_back, 1);
}

TEST(Buffer, ReportsMissingMemory) { EXPECT_THROW(Buffer(std::size_t{1} << 50, Pages::small), std::runtime_error); }

}  // namespace
}  // namespace nameplate
