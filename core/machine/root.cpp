#include "machine/root.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
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
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(resolve(path), ignored)) return std::nullopt;
  std::ifstream file(resolve(path));
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  return trimmed(content.str());
}

Descriptor Root::open(const std::string& path) const {
  return Descriptor(::open(resolve(path).c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::vector<std::uint8_t>> Root::bytes(const std::string& path) const {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(resolve(path), ignored)) return std::nullopt;
  std::ifstream file(resolve(path), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  const std::string raw = content.str();
  return std::vector<std::uint8_t>(raw.begin(), raw.end());
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
  constexpr double kKibi = 1024;
  const auto number = leading_number(field(text, key).value_or(""));
  return number ? std::optional(static_cast<std::int64_t>(*number * kKibi)) : std::nullopt;
}

}  // namespace nameplate
