#include "machine/recorded_files.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "probe/error.h"

namespace nameplate {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxIndex = 65'535;  // Linux is built for 8,192 CPUs and 1,024 nodes at most

[[noreturn]] void reject(const std::string& path, const std::string& problem) {
  refuse(fmt::format("{}: {}; a recorded machine has the files of Linux's proc and sys", path, problem));
}

// The kernel's own file systems need no check.
bool is_live(const std::string& directory) {
  struct statfs status {};
  if (statfs(directory.c_str(), &status) != 0) return false;
  return status.f_type == PROC_SUPER_MAGIC || status.f_type == SYSFS_MAGIC;
}

// Rejects a text such as "0-1000000000". Numbers end at the first character that is no digit.
void check_numbers(std::string_view text, const std::string& path) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!text.empty()) {
    const auto first_digit = static_cast<std::size_t>(std::ranges::find_if(text, is_digit) - text.begin());
    text.remove_prefix(first_digit);
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!text.empty() && (error == std::errc::result_out_of_range || number > kMaxIndex)) {
      const std::string_view digits = text.substr(0, static_cast<std::size_t>(rest - text.data()));
      reject(path, fmt::format("the number {} is above {}, the highest for a CPU or node", digits, kMaxIndex));
    }
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  }
}

bool is_list(const std::string& name) {
  static constexpr std::array<std::string_view, 8> kLists = {"cpus",    "mems",    "cpulist",  "online",
                                                             "offline", "present", "possible", "isolated"};
  static constexpr std::array<std::string_view, 3> kGroupLists = {"cpuset.cpus", "cpuset.mems", "cpuset.effective_"};
  return name.ends_with("_list") || std::ranges::find(kLists, name) != kLists.end() ||
         std::ranges::any_of(kGroupLists, [&name](std::string_view list) { return name.starts_with(list); });
}

// Without a topology in sys, hwloc takes the CPUs from here.
void check_processors(const std::string& cpuinfo, const std::string& path) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("processor")) check_numbers(line, path);
  }
}

void check_directory(const std::string& name, const std::string& path) {
  const bool is_numbered = name.starts_with("cpu") || name.starts_with("node");
  if (is_numbered) check_numbers(name, path);
}

void check_file(const Root& root, const fs::directory_entry& entry, const std::string& path, const std::string& name) {
  constexpr std::uintmax_t kMaxAttribute = std::uintmax_t{64} << 10;  // masks and lists of 8,192 CPUs are smaller
  constexpr std::uintmax_t kMaxFile = std::uintmax_t{64} << 20;
  std::error_code error;
  const fs::file_status status = entry.status(error);
  if (!fs::exists(status)) return;  // a link that leads nowhere
  if (fs::is_directory(status)) {
    check_directory(name, path);
    return;
  }
  if (!fs::is_regular_file(status)) reject(path, "not a regular file");
  const auto limit = path.starts_with("/sys/devices/system/") ? kMaxAttribute : kMaxFile;
  if (fs::file_size(entry.path(), error) > limit) reject(path, fmt::format("larger than {} bytes", limit));
  if (is_list(name)) check_numbers(root.text(path).value_or(""), path);
  if (path == "/proc/cpuinfo") check_processors(root.text(path).value_or(""), path);
}

}  // namespace

void check_recorded_files(const Root& root) {
  constexpr int kMaxFiles = 1'000'000;
  int files = 0;
  for (const std::string top : {"/proc", "/sys"}) {
    const std::string directory = root.directory() + top;
    if (is_live(directory)) continue;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string path = entry->path().string().substr(root.directory().size());
      if (++files > kMaxFiles) reject(path, fmt::format("more than {} files", kMaxFiles));
      check_file(root, *entry, path, entry->path().filename().string());
    }
  }
}

}  // namespace nameplate
