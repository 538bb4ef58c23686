// The order in which the blocks of a part of a file are visited: each block once per pass, except that `record` stays
// on one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/permutation.h"

namespace nameplate {

enum class Pattern {
  sequential,
  random,
  backward,
  stride,  // every kStride-th block, then the same from the next one, like IOzone's stride read
  record,  // the middle block repeatedly, like IOzone's record rewrite
};

const std::vector<std::string>& pattern_names();
Pattern parse_pattern(std::string_view name);

class BlockOrder {
 public:
  static constexpr std::uint64_t kStride = 17;
  static constexpr std::size_t kChunk = 256;

  // For `blocks` blocks, at least one. `seed` shifts a random order, so that workers do not run in step.
  BlockOrder(Pattern pattern, std::uint64_t blocks, std::uint64_t block_bytes, std::uint64_t seed);

  // Returns the offsets of the next `count` blocks, at most kChunk. Valid until the next call.
  std::span<const std::uint64_t> next(std::size_t count);

  // Restarts a pass; a random order then is a different one.
  void start_pass();

 private:
  std::uint64_t next_block();

  Pattern pattern_;
  std::uint64_t blocks_;
  std::uint64_t block_bytes_;
  Permutation permutation_;
  std::uint64_t seed_;
  std::uint64_t index_ = 0;  // within the pass
  std::uint64_t pass_ = 0;
  std::uint64_t shift_in_ = 0;  // for a random pass
  std::uint64_t shift_out_ = 0;
  std::uint64_t stride_at_ = 0;
  std::array<std::uint64_t, kChunk> offsets_{};
};

}  // namespace nameplate
