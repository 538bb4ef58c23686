// A random permutation that is computed instead of stored: for a billion elements a table would be as large as the
// memory to measure.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace nameplate {

// A Feistel network of four rounds (Luby, Rackoff 1988) over the next power of two; results out of range are permuted
// again, which keeps it a permutation (cycle walking: Black, Rogaway 2002). It is equal on every machine.
class Permutation {
 public:
  // Permutes 0 … count − 1; count is at least one.
  explicit Permutation(std::uint64_t count)
      : count_(count), low_bits_(std::bit_width(count - 1) / 2), high_bits_(std::bit_width(count - 1) - low_bits_) {}

  std::uint64_t operator()(std::uint64_t index) const {
    do index = scrambled(index);
    while (index >= count_);
    return index;
  }

  // Returns the element that is mapped to `index`.
  std::uint64_t inverse(std::uint64_t index) const {
    do index = unscrambled(index);
    while (index >= count_);
    return index;
  }

 private:
  // Even, so that the halves end as wide as they started.
  static constexpr std::uint64_t kRounds = 4;

  // Each round adds a hash of one half to the other and swaps them, including their widths.
  std::uint64_t scrambled(std::uint64_t index) const {
    std::uint64_t left = index >> low_bits_;
    std::uint64_t right = index & ones(low_bits_);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed = (left ^ hash(right, round)) & ones(round % 2 == 0 ? high_bits_ : low_bits_);
      left = std::exchange(right, mixed);
    }
    return left << low_bits_ | right;
  }

  std::uint64_t unscrambled(std::uint64_t index) const {
    std::uint64_t left = index >> low_bits_;
    std::uint64_t right = index & ones(low_bits_);
    for (std::uint64_t round = kRounds; round-- > 0;) {
      const std::uint64_t mixed = (right ^ hash(left, round)) & ones(round % 2 == 0 ? high_bits_ : low_bits_);
      right = std::exchange(left, mixed);
    }
    return left << low_bits_ | right;
  }

  static std::uint64_t ones(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

  static std::uint64_t hash(std::uint64_t value, std::uint64_t round) {
    value = (value + (round << 48U) + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
    return (value ^ (value >> 32U)) * 0x94D049BB133111EBU >> 24U;
  }

  std::uint64_t count_;
  unsigned low_bits_;
  unsigned high_bits_;
};

}  // namespace nameplate
