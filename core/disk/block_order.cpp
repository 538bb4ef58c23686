#include "disk/block_order.h"

#include <algorithm>

#include "disk/content.h"

namespace nameplate {

const std::vector<std::string>& pattern_names() {
  static const std::vector<std::string> kNames = {"sequential", "random", "backward", "stride", "record"};
  return kNames;
}

Pattern parse_pattern(std::string_view name) {
  const auto& names = pattern_names();
  return static_cast<Pattern>(std::ranges::find(names, name) - names.begin());
}

BlockOrder::BlockOrder(Pattern pattern, std::uint64_t blocks, std::uint64_t block_bytes, std::uint64_t seed)
    : pattern_(pattern), blocks_(blocks), block_bytes_(block_bytes), permutation_(blocks), seed_(seed) {
  start_pass();
}

void BlockOrder::start_pass() {
  ++pass_;
  index_ = 0;
  stride_at_ = 0;
  shift_in_ = mixed(seed_ << 32U ^ pass_) % blocks_;
  shift_out_ = mixed(seed_ << 32U ^ ~pass_) % blocks_;
}

std::span<const std::uint64_t> BlockOrder::next(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (index_ == blocks_) start_pass();
    offsets_[i] = next_block() * block_bytes_;
    ++index_;
  }
  return {offsets_.data(), count};
}

std::uint64_t BlockOrder::next_block() {
  const auto wrapped = [this](std::uint64_t block) { return block >= blocks_ ? block - blocks_ : block; };
  switch (pattern_) {
    case Pattern::sequential: return index_;
    case Pattern::backward: return blocks_ - 1 - index_;
    case Pattern::record: return blocks_ / 2;
    case Pattern::random: return wrapped(permutation_(wrapped(index_ + shift_in_)) + shift_out_);
    case Pattern::stride: {
      const std::uint64_t block = stride_at_;
      stride_at_ += kStride;
      if (stride_at_ >= blocks_) stride_at_ = block % kStride + 1;
      return block;
    }
  }
  return 0;
}

}  // namespace nameplate
