#include "net/secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "machine/descriptor.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr std::size_t kFewestBytes = 16;
constexpr std::size_t kMostBytes = 64;
constexpr std::size_t kNewBytes = 32;

void fill_with_random(std::span<std::uint8_t> bytes) {
  if (sodium_init() < 0) fail("libsodium cannot be used: the system gives no random numbers");
  randombytes_buf(bytes.data(), bytes.size());
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

Key read_key(const std::string& file) {
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!opened.is_open() || fstat(opened.number(), &status) != 0) {
    fail(fmt::format("the key file {} cannot be read: {}", file, std::strerror(errno)));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    fail(fmt::format("the key file {} is open to other users: chmod 600 {}", file, file));
  }
  std::array<char, 2 * kMostBytes + 2> text{};
  const ssize_t length = read(opened.number(), text.data(), text.size());
  if (length < 0) fail(fmt::format("the key file {} cannot be read: {}", file, std::strerror(errno)));
  return parse_key({text.data(), static_cast<std::size_t>(length)}, fmt::format("the key file {}", file));
}

}  // namespace

Key Key::random() {
  std::vector<std::uint8_t> bytes(kNewBytes);
  fill_with_random(bytes);
  return Key(std::move(bytes));
}

std::string Key::text() const {
  std::string result(2 * bytes_.size() + 1, '\0');
  sodium_bin2hex(result.data(), result.size(), bytes_.data(), bytes_.size());
  result.pop_back();
  return result;
}

Key parse_key(std::string_view text, const std::string& place) {
  const std::string_view digits = without_space(text);
  std::vector<std::uint8_t> bytes(kMostBytes);
  std::size_t length = 0;
  const char* end = nullptr;
  const bool is_hexadecimal =
      sodium_hex2bin(bytes.data(), bytes.size(), digits.data(), digits.size(), nullptr, &length, &end) == 0 &&
      end == digits.data() + digits.size();
  if (!is_hexadecimal || length < kFewestBytes) {
    fail(fmt::format("{} holds no key: {} to {} hexadecimal digits, as nameplate serve --new-key FILE writes them",
                     place, 2 * kFewestBytes, 2 * kMostBytes));
  }
  bytes.resize(length);
  return Key(std::move(bytes));
}

Key find_key(const std::string& file) {
  if (!file.empty()) return read_key(file);
  const char* given = std::getenv(kKeyVariable);
  return given == nullptr || *given == '\0' ? Key() : parse_key(given, kKeyVariable);
}

void write_new_key(const std::string& file) {
  const std::string text = Key::random().text() + "\n";
  const Descriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!made.is_open()) fail(fmt::format("the key file {} cannot be made: {}", file, std::strerror(errno)));
  if (write(made.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    unlink(file.c_str());
    fail(fmt::format("the key file {} cannot be written: {}", file, std::strerror(errno)));
  }
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
  // The label's end is told by a zero, which none contains.
  const std::vector<std::uint8_t> purpose(label.begin(), label.end());
  crypto_auth_hmacsha256_update(&state, purpose.data(), purpose.size());
  crypto_auth_hmacsha256_update(&state, &zero, 1);
  for (const ByteSpan part : parts) crypto_auth_hmacsha256_update(&state, part.data(), part.size());
  Mac result;
  crypto_auth_hmacsha256_final(&state, result.data());
  return result;
}

bool are_equal(const Mac& one, const Mac& other) { return sodium_memcmp(one.data(), other.data(), one.size()) == 0; }

}  // namespace nameplate
