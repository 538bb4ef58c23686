// Reads the files in which Linux describes the machine. The root directory is injectable, so that recorded machines are
// test inputs: all code that describes the machine reads only below its root.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/descriptor.h"

namespace nameplate {

class Root {
 public:
  explicit Root(std::string directory = "/") : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  bool is_this_machine() const { return directory_ == "/"; }

  // Returns the file's text without its final newline; nothing if it is missing, not readable, not a regular file, or
  // larger than 64 MiB.
  std::optional<std::string> text(const std::string& path) const;
  // Opens the file for reading; the result is not open if it is missing, not readable or not a regular file.
  Descriptor open(const std::string& path) const;
  // Returns the file's bytes; nothing in the same cases as for text().
  std::optional<std::vector<std::uint8_t>> bytes(const std::string& path) const;
  // Returns the integer in the file.
  std::optional<std::int64_t> number(const std::string& path) const;
  // Returns the number, integer or not, at the start of the file.
  std::optional<double> real(const std::string& path) const;
  bool exists(const std::string& path) const;
  // Returns where a symbolic link points, as it is written; nothing if it is missing or not readable.
  std::optional<std::string> link(const std::string& path) const;
  // Returns the sorted names in a directory; none if it is missing.
  std::vector<std::string> names(const std::string& path) const;

 private:
  std::string resolve(const std::string& path) const;

  std::string directory_;
};

// Returns the number at the start of a text; nothing if there is none.
std::optional<double> leading_number(const std::string& text);

// Returns the value after the first "key:" in a file like /proc/meminfo and /proc/cpuinfo. `mark` separates key and
// value.
std::optional<std::string> field(const std::string& text, const std::string& key, char mark = ':');

// Returns the bytes after "key:" in a file with lines like /proc/meminfo's "MemTotal:  24684084 kB", where kB are KiB
// (proc(5)).
std::optional<std::int64_t> kibibytes_field(const std::string& text, const std::string& key);

}  // namespace nameplate
