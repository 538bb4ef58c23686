#include "net/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "machine/descriptor.h"
#include "probe/error.h"

namespace nameplate {

namespace {

Key read_key(const std::string& file) {
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!opened.is_open() || fstat(opened.number(), &status) != 0) {
    fail(fmt::format("the key file {} cannot be read: {}", file, std::strerror(errno)));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    fail(fmt::format("the key file {} is open to other users: chmod 600 {}", file, file));
  }
  constexpr std::size_t kSpace = 2;  // a line's end
  SecretText text(kMaxKeyDigits + kSpace, '\0');
  const ssize_t length = read(opened.number(), text.data(), text.size());
  if (length < 0) fail(fmt::format("the key file {} cannot be read: {}", file, std::strerror(errno)));
  return parse_key({text.data(), static_cast<std::size_t>(length)}, fmt::format("the key file {}", file));
}

}  // namespace

SecretText take_key_variable() {
  char* given = std::getenv(kKeyVariable);
  if (given == nullptr) return {};
  SecretText result = given;
  zero_memory(given, result.size());
  unsetenv(kKeyVariable);
  return result;
}

Key find_key(const std::string& file) {
  const SecretText given = take_key_variable();
  if (!file.empty()) return read_key(file);
  return given.empty() ? Key() : parse_key(given, kKeyVariable);
}

void write_new_key(const std::string& file) {
  const SecretText text = Key::random().text() + "\n";
  const Descriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!made.is_open()) fail(fmt::format("the key file {} cannot be made: {}", file, std::strerror(errno)));
  if (write(made.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    unlink(file.c_str());
    fail(fmt::format("the key file {} cannot be written: {}", file, std::strerror(errno)));
  }
}

}  // namespace nameplate
