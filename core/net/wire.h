// Numbers in messages: little-endian, of fixed width. A reader that reaches the end early, or reads a value out of its
// bounds, returns zeros from there on and reports that.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/secret.h"

namespace nameplate {

class WireWriter {
 public:
  template <std::unsigned_integral T>
  WireWriter& number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::uint8_t>(std::uint64_t{value} >> 8 * i));
    return *this;
  }
  WireWriter& real(double value) { return number(std::bit_cast<std::uint64_t>(value)); }
  WireWriter& raw(ByteSpan bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // Writes at most 255 bytes of it.
  WireWriter& text(std::string_view text) {
    constexpr std::size_t kLongest = 255;
    text = text.substr(0, kLongest);
    number(static_cast<std::uint8_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  WireWriter& pad_to(std::size_t size) {
    bytes_.resize(size);
    return *this;
  }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

class WireReader {
 public:
  explicit WireReader(ByteSpan bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T number(T least = 0, T most = ~T{0}) {
    std::uint64_t value = 0;
    const ByteSpan bytes = next(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << 8 * i;
    return check(value >= least && value <= most) ? static_cast<T>(value) : T{0};
  }
  double real(double least, double most) {
    const auto value = std::bit_cast<double>(number<std::uint64_t>());
    return check(value >= least && value <= most) ? value : 0;
  }
  template <std::size_t n>
  std::array<std::uint8_t, n> raw() {
    std::array<std::uint8_t, n> result{};
    std::ranges::copy(next(n), result.begin());
    return result;
  }
  std::string text(std::size_t longest) {
    const ByteSpan bytes = next(number<std::uint8_t>());
    if (!check(bytes.size() <= longest)) return {};
    return {bytes.begin(), bytes.end()};
  }
  void skip(std::size_t bytes) { next(bytes); }

  // Returns whether everything was present and within its bounds, and nothing is left over.
  bool is_complete() const { return good_ && rest_.empty(); }
  bool is_good() const { return good_; }

 private:
  bool check(bool condition) {
    good_ = good_ && condition;
    return good_;
  }
  ByteSpan next(std::size_t bytes) {
    if (!check(bytes <= rest_.size())) return {};
    const ByteSpan result = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return result;
  }

  ByteSpan rest_;
  bool good_ = true;
};

}  // namespace nameplate
