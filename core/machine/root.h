// Reads the files in which Linux describes the machine. The root directory is injectable, so that a recorded machine is
// a test input: nothing here or above it looks past the root it was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nameplate {

class Root {
 public:
  explicit Root(std::string directory = "/") : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  bool is_this_machine() const { return directory_ == "/"; }

  // The file's text without the newline at its end; nothing where it is not there or not readable.
  std::optional<std::string> text(const std::string& path) const;
  // The file's bytes as they are; nothing where it is not there or not readable.
  std::optional<std::vector<std::uint8_t>> bytes(const std::string& path) const;
  // The whole number that the file holds.
  std::optional<std::int64_t> number(const std::string& path) const;
  // The number, whole or not, that the file begins with.
  std::optional<double> real(const std::string& path) const;
  bool exists(const std::string& path) const;
  // The names in a directory, sorted; none where it is not there.
  std::vector<std::string> names(const std::string& path) const;

 private:
  std::string resolve(const std::string& path) const;

  std::string directory_;
};

// The number that a text begins with; nothing where it begins with something else.
std::optional<double> leading_number(const std::string& text);

// The value after "key:" in a file of such lines, as /proc/meminfo and /proc/cpuinfo are; the first one. `mark` stands
// between key and value.
std::optional<std::string> field(const std::string& text, const std::string& key, char mark = ':');

// The bytes after "key:" in a file of lines such as /proc/meminfo's "MemTotal:  24684084 kB", where kB are KiB
// (proc(5)).
std::optional<std::int64_t> kibibytes_field(const std::string& text, const std::string& key);

}  // namespace nameplate
