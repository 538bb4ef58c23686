// Loops that read, write and copy memory block by block, at given offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa.h"

namespace nameplate {

enum class BlockOp {
  read,   // adds up the block's 8-byte words (and the rest byte by byte)
  write,  // sets every byte to kBlockByte
  copy,   // from the source to the same offset of the target
};

const std::vector<std::string>& block_op_names();
BlockOp parse_block_op(std::string_view name);

inline constexpr unsigned char kBlockByte = 0xA5;

inline constexpr std::uint64_t kBlockOfALine = 64;  // bytes of a cache line

// The memory of one worker. `span_bytes`, the length of target and source, is a multiple of `block_bytes`.
struct BlockSpan {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;
  std::uint64_t span_bytes = 0;
  std::uint64_t block_bytes = 0;
};

// Does `count` operations, the i-th at (offsets[i] + base) modulo the span; offsets and base are below the span.
// Returns the sum over all blocks for `read`, otherwise 0.
using BlockLoop = std::uint64_t (*)(const BlockSpan& span, const std::uint64_t* offsets, std::size_t count,
                                    std::uint64_t base);

// Returns a loop without calls: one load or store for blocks of 1, 2, 4 and 8 bytes, else vectors, without a loop over
// them for a cache line. Call only after why_not(isa) returned nothing.
BlockLoop inline_block_loop(Isa isa, BlockOp op, std::uint64_t block_bytes);

// Returns a loop with the C library's memset and memcpy; null for `read`, for which it has no function.
BlockLoop libc_block_loop(BlockOp op);

// Returns what inline_block_loop's `read` adds up for one block, in plain scalar code.
std::uint64_t block_sum(const std::byte* block, std::uint64_t block_bytes);

}  // namespace nameplate
