#include "kernels/block.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>
#include <vector>

#include "kernels/offsets.h"

namespace nameplate {
namespace {

constexpr std::array<std::uint64_t, 12> kBlocks = {1, 2, 3, 4, 8, 13, 64, 100, 256, 1000, 1024, 4099};

std::vector<std::byte> numbered(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

// Takes the third and the first of four blocks, the latter with an offset that wraps around the end of the span.
void expect_right(BlockLoop loop, BlockOp op, std::uint64_t block, const std::string& label) {
  const std::vector<std::byte> source = numbered(4 * block);
  std::vector<std::byte> target(4 * block + 1, std::byte{0x11});
  const std::array<std::uint64_t, 2> offsets = {block, 3 * block};
  const std::uint64_t sum = loop({target.data(), source.data(), 4 * block, block}, offsets.data(), 2, block);
  const auto expected_sum = block_sum(source.data() + 2 * block, block) + block_sum(source.data(), block);
  EXPECT_EQ(sum, op == BlockOp::read ? expected_sum : 0) << label;
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool is_target = op != BlockOp::read && (i / block == 0 || i / block == 2) && i < 4 * block;
    const std::byte written = op == BlockOp::copy && is_target ? source[i] : std::byte{kBlockByte};
    ASSERT_EQ(target[i], is_target ? written : std::byte{0x11}) << label << " byte " << i;
  }
}

TEST(BlockLoops, ChangeTheirBlockAndNothingElse) {
  for (const std::string& name : block_op_names()) {
    const BlockOp op = parse_block_op(name);
    for (const std::uint64_t block : kBlocks) {
      for (const Isa isa : compiled_isas()) {
        if (why_not(isa) || isa == Isa::amx) continue;
        expect_right(inline_block_loop(isa, op, block), op, block, to_string(isa) + " " + name + std::to_string(block));
      }
      if (op != BlockOp::read) expect_right(libc_block_loop(op), op, block, "libc " + name + std::to_string(block));
    }
  }
}

TEST(BlockLoops, TheCLibraryHasNoCallThatOnlyReads) { EXPECT_EQ(libc_block_loop(BlockOp::read), nullptr); }

std::vector<std::uint64_t> row(OffsetStream& stream, std::size_t chunks, std::size_t count, std::uint64_t span) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < chunks; ++i) {
    const OffsetStream::Chunk chunk = stream.next(count);
    for (std::size_t k = 0; k < count; ++k) result.push_back((chunk.offsets[k] + chunk.base) % span);
  }
  return result;
}

TEST(OffsetStream, ASequentialStreamVisitsEveryBlockInOrderWithAnyGenerator) {
  for (const std::string& name : generator_names()) {
    for (const std::size_t count : {1U, 7U, 1000U, 1024U}) {
      OffsetStream stream(parse_generator(name), false, 37, 24, 0);
      const auto offsets = row(stream, 60, count, 37 * 24);
      for (std::size_t i = 0; i < offsets.size(); ++i) ASSERT_EQ(offsets[i], i % 37 * 24) << name << " " << count;
    }
  }
}

TEST(OffsetStream, ARandomStreamReachesAllBlocksAboutEquallyOften) {
  constexpr std::uint64_t kBlockCount = 16;
  for (const std::string& name : generator_names()) {
    OffsetStream stream(parse_generator(name), true, kBlockCount, 8, 3);
    std::array<int, kBlockCount> hits{};
    for (const std::uint64_t offset : row(stream, 100, 1024, kBlockCount * 8)) ++hits.at(offset / 8);
    for (const int count : hits) EXPECT_NEAR(count, 6400, 700) << name;
  }
}

TEST(OffsetStream, CanBeRepeatedFromAPosition) {
  for (const Generator generator : {Generator::precomputed, Generator::xoshiro, Generator::pcg}) {
    OffsetStream stream(generator, true, 1'000'003, 8, 1);
    row(stream, 40, 1000, 8'000'024);
    const OffsetStream::Position position = stream.position();
    const auto first = row(stream, 40, 1000, 8'000'024);
    stream.go_back(position);
    EXPECT_EQ(row(stream, 40, 1000, 8'000'024), first);
  }
}

TEST(OffsetStream, ATableOfOffsetsShiftsWithEachPassThroughIt) {
  OffsetStream stream(Generator::precomputed, true, 1'000'000'007, 1, 1);
  const auto offsets = row(stream, 160, 1024, 1'000'000'007);
  EXPECT_GT(std::set<std::uint64_t>(offsets.begin(), offsets.end()).size(), offsets.size() * 99 / 100);
}

}  // namespace
}  // namespace nameplate
