// A random permutation that is computed instead of stored: for a billion elements a table would be as large as the
// memory to measure.
#pragma once

#include <cmath>
#include <cstdint>

namespace nameplate {

// A Feistel network of four rounds (Luby, Rackoff 1988) over pairs of numbers, with additions modulo the range of each
// half; results out of range are permuted again, which keeps it a permutation (Black, Rogaway 2002: generalised
// Feistel, cycle walking). The pairs are hardly more than the elements, so that it is rarely needed. It is equal on
// every machine.
class Permutation {
 public:
  // Permutes 0 … count − 1; count is from 1 to 2^62.
  explicit Permutation(std::uint64_t count)
      : count_(count), rights_(root_of(count)), lefts_((count - 1) / rights_ + 1) {}

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
  // Returns the square root, rounded up to a whole number; the error of a double's is less than one.
  static std::uint64_t root_of(std::uint64_t count) {
    auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
    while (root * root < count) ++root;
    return root;
  }

  // Each round adds a hash of one half to the other.
  std::uint64_t scrambled(std::uint64_t index) const {
    std::uint64_t left = index / rights_;
    std::uint64_t right = index % rights_;
    left = sum(left, hash(right, 0, lefts_), lefts_);
    right = sum(right, hash(left, 1, rights_), rights_);
    left = sum(left, hash(right, 2, lefts_), lefts_);
    right = sum(right, hash(left, 3, rights_), rights_);
    return left * rights_ + right;
  }

  std::uint64_t unscrambled(std::uint64_t index) const {
    std::uint64_t left = index / rights_;
    std::uint64_t right = index % rights_;
    right = difference(right, hash(left, 3, rights_), rights_);
    left = difference(left, hash(right, 2, lefts_), lefts_);
    right = difference(right, hash(left, 1, rights_), rights_);
    left = difference(left, hash(right, 0, lefts_), lefts_);
    return left * rights_ + right;
  }

  static std::uint64_t sum(std::uint64_t a, std::uint64_t b, std::uint64_t range) {
    const std::uint64_t total = a + b;
    return total >= range ? total - range : total;
  }

  static std::uint64_t difference(std::uint64_t a, std::uint64_t b, std::uint64_t range) {
    return a >= b ? a - b : a + range - b;
  }

  // Returns a number below `range`, which is at most 2^32.
  static std::uint64_t hash(std::uint64_t value, std::uint64_t round, std::uint64_t range) {
    value = (value + (round << 48U) + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 32U)) * 0x94D049BB133111EBU;
    return (value >> 32U) * range >> 32U;
  }

  std::uint64_t count_;
  std::uint64_t rights_;  // range of the right half; count_ is at most lefts_ × rights_
  std::uint64_t lefts_;
};

}  // namespace nameplate
