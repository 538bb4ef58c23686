#include "kernels/block.h"

#include <algorithm>
#include <cstring>

namespace nameplate {

namespace {

// Calls `use(offset)` for each block.
template <class Use>
std::uint64_t visit_blocks(const BlockSpan& span, const std::uint64_t* offsets, std::size_t count, std::uint64_t base,
                           Use use) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t offset = offsets[i] + base;
    if (offset >= span.span_bytes) offset -= span.span_bytes;
    use(offset);
  }
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  span.target[offsets[0]] ^= std::byte{1};
#endif
  return 0;
}

std::uint64_t memset_loop(const BlockSpan& span, const std::uint64_t* offsets, std::size_t count, std::uint64_t base) {
  return visit_blocks(span, offsets, count, base, [&span](std::uint64_t offset) {
    std::memset(span.target + offset, kBlockByte, span.block_bytes);
  });
}

std::uint64_t memcpy_loop(const BlockSpan& span, const std::uint64_t* offsets, std::size_t count, std::uint64_t base) {
  return visit_blocks(span, offsets, count, base, [&span](std::uint64_t offset) {
    std::memcpy(span.target + offset, span.source + offset, span.block_bytes);
  });
}

}  // namespace

const std::vector<std::string>& block_op_names() {
  static const std::vector<std::string> kNames = {"read", "write", "copy"};
  return kNames;
}

BlockOp parse_block_op(std::string_view name) {
  const auto& names = block_op_names();
  return static_cast<BlockOp>(std::ranges::find(names, name) - names.begin());
}

BlockLoop libc_block_loop(BlockOp op) {
  if (op == BlockOp::read) return nullptr;
  return op == BlockOp::write ? memset_loop : memcpy_loop;
}

std::uint64_t block_sum(const std::byte* block, std::uint64_t block_bytes) {
  if (block_bytes == 2 || block_bytes == 4) {
    std::uint32_t value = 0;
    std::memcpy(&value, block, block_bytes);
    return value;
  }
  std::uint64_t sum = 0;
  std::uint64_t at = 0;
  for (; at + sizeof(std::uint64_t) <= block_bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, block + at, sizeof(word));
    sum += word;
  }
  for (; at < block_bytes; ++at) sum += std::to_integer<std::uint64_t>(block[at]);
  return sum;
}

}  // namespace nameplate
