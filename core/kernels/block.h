// Reading, writing and copying memory block by block, at offsets that are handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa.h"

namespace nameplate {

enum class BlockOp {
  read,   // adds up the block's 8-byte words (and what is left over, byte by byte)
  write,  // sets every byte to kBlockByte
  copy,   // from the source to the same offset of the target
};

const std::vector<std::string>& block_op_names();
BlockOp parse_block_op(std::string_view name);

inline constexpr unsigned char kBlockByte = 0xA5;

// What one worker works on. `span_bytes` is a multiple of `block_bytes`, and both target and source are that long.
struct BlockSpan {
  std::byte* target = nullptr;
  const std::byte* source = nullptr;
  std::uint64_t span_bytes = 0;
  std::uint64_t block_bytes = 0;
};

// `count` operations, the i-th at (offsets[i] + base) modulo the span; offsets and base are below the span. Of `read`:
// the sum over all blocks; otherwise 0.
using BlockLoop = std::uint64_t (*)(const BlockSpan& span, const std::uint64_t* offsets, std::size_t count,
                                    std::uint64_t base);

// A loop without calls: one load or store for blocks of 1, 2, 4 and 8 bytes, else vectors. Call only after
// why_not(isa) found nothing.
BlockLoop inline_block_loop(Isa isa, BlockOp op, std::uint64_t block_bytes);

// With the C library's memset and memcpy; null for `read`, for which it has no call.
BlockLoop libc_block_loop(BlockOp op);

// What inline_block_loop's `read` adds up for one block, in plain scalar code.
std::uint64_t block_sum(const std::byte* block, std::uint64_t block_bytes);

}  // namespace nameplate
