// What stands in a test file, so that every byte read or written can be told by where it belongs. It looks random
// throughout: nothing below can compress it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/operands.h"

namespace nameplate {

// A number for a number, the same always: one step of SplitMix64 from `value`, so that 0 has one as well.
inline std::uint64_t mixed(std::uint64_t value) { return finalised(value + 0x9E3779B97F4A7C15U); }

// How often a block carries its stamp.
inline constexpr std::size_t kStampEvery = 4096;

// The content with which a file is made: a function of the offset alone. Every 4 KiB begin with their offset.
class OriginalContent {
 public:
  explicit OriginalContent(std::uint64_t seed) : seed_(seed) {}

  // What belongs at `offset`, which may be anywhere.
  void fill(std::span<std::byte> data, std::uint64_t offset) const;
  // The first byte that is not as it was made, counted from `offset`; nothing where all are.
  std::optional<std::size_t> find_difference(std::span<const std::byte> data, std::uint64_t offset) const;

 private:
  std::uint64_t word(std::uint64_t offset) const;  // at a multiple of 8

  std::uint64_t seed_;
};

// The content of blocks that are written in the timed region, where making all of it would be what is timed: a random
// text that was made before, of which a block takes the part at its slot, and in its first 16 bytes and every 4 KiB a
// stamp: the offset of that place, and a checksum of offset, slot and call. A block below 16 bytes is the beginning of
// the checksum.
class WrittenContent {
 public:
  WrittenContent(std::uint64_t block_bytes, unsigned slots, std::uint64_t seed);

  // A slot's text, as the buffer it is written from begins.
  void fill_slot(std::byte* block, unsigned slot) const;

  // Makes `block`, which lies in the buffer at `slot`, the one that call number `call` writes at `offset`.
  void stamp(std::byte* block, unsigned slot, std::uint64_t offset, std::uint64_t call) const {
    if (block_bytes_ < kStampBytes) {
      stamp_small(block, offset, call);
      return;
    }
    for (std::uint64_t at = 0; at + kStampBytes <= block_bytes_; at += kStampEvery) {
      put(block + at, offset + at, slot, call);
    }
  }

  // The first byte of a block read back that is not what `call` wrote at `offset`; nothing where all are.
  std::optional<std::size_t> find_difference(std::span<const std::byte> block, std::uint64_t offset,
                                             std::uint64_t call) const;

 private:
  static constexpr std::size_t kStampBytes = 16;
  static constexpr unsigned kSlotShift = 48;

  static void put(std::byte* place, std::uint64_t offset, unsigned slot, std::uint64_t call);
  void stamp_small(std::byte* block, std::uint64_t offset, std::uint64_t call) const;

  std::uint64_t block_bytes_;
  std::vector<std::byte> text_;  // of all slots
};

// Whether a block that begins at a multiple of 4 KiB says that it belongs at `offset`: true of both contents.
bool begins_with_offset(const std::byte* block, std::uint64_t offset);

}  // namespace nameplate
