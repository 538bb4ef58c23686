// The content of test files: every byte is determined by its position. It looks random, so that nothing can compress
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/operands.h"

namespace nameplate {

// Maps a number to a number: one step of SplitMix64 starting at `value`, so that 0 is mixed as well.
inline std::uint64_t mixed(std::uint64_t value) { return finalised(value + 0x9E3779B97F4A7C15U); }

// The distance of a block's stamps.
inline constexpr std::size_t kStampEvery = 4096;

// The content of a new file: a function of the offset. Every 4 KiB start with their offset.
class OriginalContent {
 public:
  explicit OriginalContent(std::uint64_t seed) : seed_(seed) {}

  // Writes the content at `offset`, which may be anywhere.
  void fill(std::span<std::byte> data, std::uint64_t offset) const;
  // Returns the first byte that differs from the original, counted from `offset`; nothing if none does.
  std::optional<std::size_t> find_difference(std::span<const std::byte> data, std::uint64_t offset) const;

 private:
  std::uint64_t word(std::uint64_t offset) const;  // the offset is a multiple of 8

  std::uint64_t seed_;
};

// The content of blocks written in the timed region, where generating it would be what is timed: a random text
// generated before, of which a block takes the part at its slot, with a stamp in its first 16 bytes and every 4 KiB:
// the offset of that place, and a checksum of offset, slot and call. A block below 16 bytes is the start of the
// checksum.
class WrittenContent {
 public:
  WrittenContent(std::uint64_t block_bytes, unsigned slots, std::uint64_t seed);

  // Writes a slot's text, with which its buffer starts.
  void fill_slot(std::byte* block, unsigned slot) const;

  // Turns `block`, the buffer's part at `slot`, into the one that call number `call` writes at `offset`.
  void stamp(std::byte* block, unsigned slot, std::uint64_t offset, std::uint64_t call) const {
    if (block_bytes_ < kStampBytes) {
      stamp_small(block, offset, call);
      return;
    }
    for (std::uint64_t at = 0; at + kStampBytes <= block_bytes_; at += kStampEvery) {
      put(block + at, offset + at, slot, call);
    }
  }

  // Returns the first byte of a block that is not what `call` wrote at `offset`; nothing if all are.
  std::optional<std::size_t> find_difference(std::span<const std::byte> block, std::uint64_t offset,
                                             std::uint64_t call) const;

 private:
  static constexpr std::size_t kStampBytes = 16;
  static constexpr unsigned kSlotShift = 48;

  static void put(std::byte* target, std::uint64_t offset, unsigned slot, std::uint64_t call);
  void stamp_small(std::byte* block, std::uint64_t offset, std::uint64_t call) const;

  std::uint64_t block_bytes_;
  std::vector<std::byte> text_;  // for all slots
};

// Returns whether a block that starts at a multiple of 4 KiB carries `offset`, as both contents do.
bool begins_with_offset(const std::byte* block, std::uint64_t offset);

}  // namespace nameplate
