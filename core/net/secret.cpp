#include "net/secret.h"

#include <fmt/format.h>
#include <sodium.h>

#include "probe/error.h"

namespace nameplate {

namespace {

constexpr std::size_t kNewBytes = 32;

void fill_with_random(std::span<std::uint8_t> bytes) {
  if (sodium_init() < 0) fail("libsodium cannot be used: the system provides no random numbers");
  randombytes_buf(bytes.data(), bytes.size());
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

void zero_memory(void* memory, std::size_t bytes) { sodium_memzero(memory, bytes); }

Key Key::random() {
  SecretBytes bytes(kNewBytes);
  fill_with_random(bytes);
  return Key(std::move(bytes));
}

SecretText Key::text() const {
  SecretText result(2 * bytes_.size() + 1, '\0');
  sodium_bin2hex(result.data(), result.size(), bytes_.data(), bytes_.size());
  result.pop_back();
  return result;
}

Key parse_key(std::string_view text, const std::string& source) {
  const std::string_view digits = without_space(text);
  SecretBytes bytes(kMaxKeyDigits / 2);
  std::size_t length = 0;
  const char* end = nullptr;
  const bool is_hexadecimal =
      sodium_hex2bin(bytes.data(), bytes.size(), digits.data(), digits.size(), nullptr, &length, &end) == 0 &&
      end == digits.data() + digits.size();
  if (!is_hexadecimal || 2 * length < kMinKeyDigits) {
    fail(
        fmt::format("{} contains no key: it must have {} to {} hexadecimal digits, as written by nameplate serve "
                    "--new-key FILE",
                    source, kMinKeyDigits, kMaxKeyDigits));
  }
  bytes.resize(length);
  return Key(std::move(bytes));
}

Nonce random_nonce() {
  Nonce result;
  fill_with_random(result);
  return result;
}

Mac authenticate(ByteSpan key, std::string_view label, std::initializer_list<ByteSpan> parts) {
  crypto_auth_hmacsha256_state state;
  const std::uint8_t zero = 0;
  crypto_auth_hmacsha256_init(&state, key.empty() ? &zero : key.data(), key.size());
  // A zero, which no label contains, marks the label's end.
  const std::vector<std::uint8_t> purpose(label.begin(), label.end());
  crypto_auth_hmacsha256_update(&state, purpose.data(), purpose.size());
  crypto_auth_hmacsha256_update(&state, &zero, 1);
  for (const ByteSpan part : parts) crypto_auth_hmacsha256_update(&state, part.data(), part.size());
  Mac result;
  crypto_auth_hmacsha256_final(&state, result.data());
  zero_memory(&state, sizeof state);
  return result;
}

bool are_equal(const Mac& one, const Mac& other) { return sodium_memcmp(one.data(), other.data(), one.size()) == 0; }

}  // namespace nameplate
