// Random numbers for the operands of kernels: equal on every machine and in every run, so that a result can be
// replayed.
#pragma once

#include <cstdint>

namespace nameplate {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on all of `z`.
inline std::uint64_t finalised(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// SplitMix64.
class OperandSource {
 public:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    return finalised(state_);
  }

  // Returns a number uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_ = 0x6E616D65706C6174U;
};

}  // namespace nameplate
