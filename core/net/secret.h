// The shared key of a peer and its clients, and what is computed with it: HMAC-SHA256 (RFC 2104, FIPS 198-1) by
// libsodium.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nameplate {

using ByteSpan = std::span<const std::uint8_t>;
using Nonce = std::array<std::uint8_t, 32>;
using Mac = std::array<std::uint8_t, 32>;

// Where a key is looked for when no file is named; never on a command line, which every user of a machine can read.
inline constexpr const char* kKeyVariable = "NAMEPLATE_KEY";

class Key {
 public:
  // None: what both sides use where no key was agreed upon. It keeps strangers' protocols apart, not strangers.
  Key() = default;
  explicit Key(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}

  // 256 random bits.
  static Key random();

  bool is_given() const { return !bytes_.empty(); }
  ByteSpan bytes() const { return bytes_; }
  std::string text() const;  // in hexadecimal

 private:
  std::vector<std::uint8_t> bytes_;
};

// Of hexadecimal digits, at least 32 (128 bits). Throws ProbeError(failed) naming `place`, never what stands there.
Key parse_key(std::string_view text, const std::string& place);

// From the file if one is named, else from the environment, else none. Throws ProbeError(failed): a file that cannot be
// read, that others can read too, or that holds no key.
Key find_key(const std::string& file);

// Makes a file that only its owner can read, with a new key. Throws ProbeError(failed), also where it exists already.
void write_new_key(const std::string& file);

Nonce random_nonce();

// Of the parts one after the other; `label` keeps what is computed for one purpose from being of use for another.
Mac authenticate(ByteSpan key, std::string_view label, std::initializer_list<ByteSpan> parts);

// In a time that does not depend on where they differ.
bool are_equal(const Mac& one, const Mac& other);

}  // namespace nameplate
