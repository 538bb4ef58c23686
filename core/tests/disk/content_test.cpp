#include "disk/content.h"

#include <gtest/gtest.h>

#include <cstring>

namespace nameplate {
namespace {

TEST(OriginalContent, APartIsTheSameForAnyChunkSize) {
  const OriginalContent content(7);
  std::vector<std::byte> full(20'000);
  content.fill(full, 0);
  for (const std::size_t offset : {0, 1, 7, 8, 4095, 4096, 5001}) {
    for (const std::size_t size : {1, 3, 8, 9, 4096, 9'000}) {
      std::vector<std::byte> part(size);
      content.fill(part, offset);
      EXPECT_EQ(std::memcmp(part.data(), full.data() + offset, size), 0) << offset << " " << size;
      EXPECT_FALSE(content.find_difference(part, offset));
    }
  }
}

TEST(OriginalContent, TheFirstWrongByteIsFound) {
  const OriginalContent content(7);
  std::vector<std::byte> part(10'000);
  content.fill(part, 3);
  part[8'000] ^= std::byte{1};
  part[9'000] ^= std::byte{1};
  EXPECT_EQ(content.find_difference(part, 3), 8'000U);
  EXPECT_TRUE(content.find_difference(part, 4));
  EXPECT_TRUE(OriginalContent(8).find_difference(part, 3));
}

TEST(OriginalContent, EveryPageRecordsItsPosition) {
  std::vector<std::byte> page(4096);
  OriginalContent(7).fill(page, 8192);
  EXPECT_TRUE(begins_with_offset(page.data(), 8192));
  EXPECT_FALSE(begins_with_offset(page.data(), 4096));
}

TEST(WrittenContent, ABlockIsIdentifiedByPositionCallAndContent) {
  for (const std::uint64_t block : {1, 7, 8, 16, 512, 4096, 10'000}) {
    const WrittenContent content(block, 4, 1);
    std::vector<std::byte> memory(block);
    if (block >= 16) content.fill_slot(memory.data(), 2);
    content.stamp(memory.data(), 2, 5 * block, 9);
    EXPECT_FALSE(content.find_difference(memory, 5 * block, 9)) << block;
    if (block < 4) continue;  // such a short checksum may match by chance
    EXPECT_TRUE(content.find_difference(memory, 6 * block, 9)) << block;
    EXPECT_TRUE(content.find_difference(memory, 5 * block, 8)) << block;
    memory[block - 1] ^= std::byte{1};
    const auto difference = content.find_difference(memory, 5 * block, 9);
    ASSERT_TRUE(difference) << block;
    // In a block of 16 bytes, the last 8 bytes identify the content.
    EXPECT_EQ(*difference, block == 16 ? 8 : block - 1) << block;
  }
}

TEST(WrittenContent, AnInvalidSlotIsADifferenceAndNotACrash) {
  const WrittenContent content(4096, 4, 1);
  const std::vector<std::byte> foreign(4096, std::byte{0xFF});
  EXPECT_TRUE(content.find_difference(foreign, 0, 1));
}

}  // namespace
}  // namespace nameplate
