#include "machine/root.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>

namespace nameplate {

namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

std::string Root::resolve(const std::string& path) const { return is_this_machine() ? path : directory_ + path; }

std::optional<std::string> Root::text(const std::string& path) const {
  const auto content = bytes(path);
  return content ? std::optional(trimmed({content->begin(), content->end()})) : std::nullopt;
}

// O_NONBLOCK: opening a pipe would wait for its writer.
Descriptor Root::open(const std::string& path) const {
  Descriptor file(::open(resolve(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  const bool is_regular = file.is_open() && fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
  return is_regular ? std::move(file) : Descriptor();
}

std::optional<std::vector<std::uint8_t>> Root::bytes(const std::string& path) const {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;  // /proc/cpuinfo of 8,192 CPUs has a quarter of this
  const Descriptor file = open(path);
  if (!file.is_open()) return std::nullopt;
  std::vector<std::uint8_t> content;
  std::array<std::uint8_t, 4096> block{};
  ssize_t count = 0;
  while ((count = ::read(file.number(), block.data(), block.size())) > 0) {
    if (content.size() + static_cast<std::size_t>(count) > kMaxBytes) return std::nullopt;
    content.insert(content.end(), block.begin(), block.begin() + count);
  }
  return count == 0 ? std::optional(std::move(content)) : std::nullopt;
}

std::optional<std::int64_t> Root::number(const std::string& path) const {
  const auto content = text(path);
  if (!content) return std::nullopt;
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(content->data(), content->data() + content->size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<double> Root::real(const std::string& path) const {
  const auto content = text(path);
  return content ? leading_number(*content) : std::nullopt;
}

std::optional<std::string> Root::link(const std::string& path) const {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(resolve(path), error);
  return error ? std::nullopt : std::optional(target.string());
}

bool Root::exists(const std::string& path) const {
  std::error_code ignored;
  return std::filesystem::exists(resolve(path), ignored);
}

std::vector<std::string> Root::names(const std::string& path) const {
  std::vector<std::string> result;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(resolve(path), error)) {
    result.push_back(entry.path().filename().string());
  }
  std::ranges::sort(result);
  return result;
}

std::optional<double> leading_number(const std::string& text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::string> field(const std::string& text, const std::string& key, char mark) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find(mark);
    if (end != std::string::npos && trimmed(line.substr(0, end)) == key) return trimmed(line.substr(end + 1));
  }
  return std::nullopt;
}

std::optional<std::int64_t> kibibytes_field(const std::string& text, const std::string& key) {
  constexpr std::int64_t kKibi = 1024;
  constexpr double kMax = 1e15;  // in KiB, far more than any memory
  const auto number = leading_number(field(text, key).value_or(""));
  if (!number || !(*number >= 0 && *number <= kMax)) return std::nullopt;
  return static_cast<std::int64_t>(*number) * kKibi;
}

}  // namespace nameplate
