// The shared key of a peer and its clients, and what is computed with it: HMAC-SHA256 (RFC 2104, FIPS 198-1) by
// libsodium.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nameplate {

using ByteSpan = std::span<const std::uint8_t>;
using Nonce = std::array<std::uint8_t, 32>;
using Mac = std::array<std::uint8_t, 32>;

// Overwrites memory in a way that no optimiser removes.
void zero_memory(void* memory, std::size_t bytes);

// Overwrites memory before it is freed, so that no key stays in memory that is reused or dumped.
template <class T>
struct ZeroingAllocator {
  using value_type = T;

  ZeroingAllocator() = default;
  template <class U>
  explicit ZeroingAllocator(const ZeroingAllocator<U>& /*other*/) {}

  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) {
    zero_memory(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  bool operator==(const ZeroingAllocator& /*other*/) const { return true; }
};

using SecretBytes = std::vector<std::uint8_t, ZeroingAllocator<std::uint8_t>>;
// A key's digits are too long for the buffer inside a string, which no allocator overwrites.
using SecretText = std::basic_string<char, std::char_traits<char>, ZeroingAllocator<char>>;

inline constexpr std::size_t kMinKeyDigits = 32;
inline constexpr std::size_t kMaxKeyDigits = 128;

class Key {
 public:
  // An empty key, used by both sides if none was agreed upon. It keeps other protocols out, but not strangers.
  Key() = default;
  explicit Key(SecretBytes bytes) : bytes_(std::move(bytes)) {}

  // Returns a key of 256 random bits.
  static Key random();

  bool is_given() const { return !bytes_.empty(); }
  ByteSpan bytes() const { return bytes_; }
  SecretText text() const;  // in hexadecimal

 private:
  SecretBytes bytes_;
};

// Parses hexadecimal digits, at least 32 (128 bits). Throws ProbeError(failed) that names `source`, never its content.
Key parse_key(std::string_view text, const std::string& source);

Nonce random_nonce();

// Returns the MAC of the concatenated parts; `label` makes it useless for any other purpose.
Mac authenticate(ByteSpan key, std::string_view label, std::initializer_list<ByteSpan> parts);

// Compares in a time that does not depend on where they differ.
bool are_equal(const Mac& one, const Mac& other);

}  // namespace nameplate
