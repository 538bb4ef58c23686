#include "net/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "machine/descriptor.h"
#include "probe/error.h"

namespace nameplate {

namespace {

// Returns whether the service manager created the file for this service alone (systemd.exec(5), LoadCredential=).
bool is_credential(const std::string& file) {
  const char* given = std::getenv("CREDENTIALS_DIRECTORY");
  if (given == nullptr || *given == '\0') return false;
  std::error_code path_error;
  const auto directory = std::filesystem::canonical(given, path_error);
  if (path_error) return false;
  const auto path = std::filesystem::canonical(file, path_error);
  return !path_error && std::ranges::mismatch(directory, path).in1 == directory.end();
}

Key read_key(const std::string& file) {
  // Without O_NONBLOCK a named pipe would be waited for until somebody writes to it.
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!opened.is_open() || fstat(opened.number(), &status) != 0) {
    fail(fmt::format("cannot read the key file {}: {}", file, std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) fail(fmt::format("the key file {} is not a regular file", file));
  if (!is_private(status, is_credential(file), Identity::of_this_process())) {
    fail(fmt::format("the key file {} is accessible to other users (mode {:03o}, owner {}, group {}); chmod 600 {}",
                     file, status.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO), status.st_uid, status.st_gid, file));
  }
  constexpr std::size_t kSpace = 2;  // a line terminator
  SecretText text(kMaxKeyDigits + kSpace, '\0');
  const ssize_t length = read(opened.number(), text.data(), text.size());
  if (length < 0) fail(fmt::format("cannot read the key file {}: {}", file, std::strerror(errno)));
  return parse_key({text.data(), static_cast<std::size_t>(length)}, fmt::format("the key file {}", file));
}

}  // namespace

Identity Identity::of_this_process() {
  Identity result{.user = geteuid(), .group = getegid()};
  result.supplementary.resize(static_cast<std::size_t>(std::max(0, getgroups(0, nullptr))));
  const int count = getgroups(static_cast<int>(result.supplementary.size()), result.supplementary.data());
  result.supplementary.resize(static_cast<std::size_t>(std::max(0, count)));
  return result;
}

bool is_private(const struct stat& status, bool is_credential, const Identity& reader) {
  if ((status.st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) != 0) return false;
  if ((status.st_mode & S_IRGRP) == 0 || is_credential) return true;
  const bool is_roots = status.st_uid == 0;
  if (status.st_gid == 0 || status.st_gid == reader.group) return is_roots || status.st_uid == reader.user;
  // A supplementary group may have many members, such as "users", and a user's own file can have it by accident. Root
  // gave its file to the group on purpose, as Kubernetes gives a secret to a pod's fsGroup.
  return is_roots && std::ranges::find(reader.supplementary, status.st_gid) != reader.supplementary.end();
}

SecretText take_key_variable() {
  char* given = std::getenv(kKeyVariable);
  if (given == nullptr) return {};
  SecretText result = given;
  zero_memory(given, result.size());
  unsetenv(kKeyVariable);
  return result;
}

SecretText key_variable(const SecretText& key) { return SecretText(kKeyVariable) + "=" + key; }

std::vector<char*> environment_with(SecretText& entry) {
  std::vector<char*> result = {entry.data()};
  const std::string_view name = std::string_view(entry).substr(0, entry.find('=') + 1);
  for (char** other = environ; *other != nullptr; ++other) {
    if (!std::string_view(*other).starts_with(name)) result.push_back(*other);
  }
  result.push_back(nullptr);
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
  if (!made.is_open()) fail(fmt::format("cannot create the key file {}: {}", file, std::strerror(errno)));
  if (write(made.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    unlink(file.c_str());
    fail(fmt::format("cannot write the key file {}: {}", file, std::strerror(errno)));
  }
}

}  // namespace nameplate
