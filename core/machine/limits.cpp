#include "machine/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <sstream>

namespace nameplate {

namespace {

// Returns a group and all its ancestors, innermost first: "/a/b" gives "/a/b", "/a", "".
std::vector<std::string> with_ancestors(std::string group) {
  if (group == "/") group.clear();
  std::vector<std::string> result = {group};
  while (!group.empty()) {
    group.erase(group.rfind('/'));
    result.push_back(group);
  }
  return result;
}

// Returns the group of a controller in /proc/self/cgroup ("4:cpu,cpuacct:/user"); version 2 has an empty controller
// name.
std::optional<std::string> group_of(const std::string& cgroups, const std::string& controller) {
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    if (controllers.find(fmt::format(",{},", controller)) != std::string::npos) return line.substr(second + 1);
  }
  return std::nullopt;
}

template <class T>
void keep_smaller(std::optional<T>& limit, std::optional<T> candidate) {
  if (candidate && (!limit || *candidate < *limit)) limit = candidate;
}

// cpu.max: "quota period" in microseconds, or "max period".
std::optional<double> quota_v2(const std::optional<std::string>& cpu_max) {
  if (!cpu_max || cpu_max->starts_with("max")) return std::nullopt;
  std::istringstream words(*cpu_max);
  double quota = 0;
  double period = 0;
  words >> quota >> period;
  return period > 0 ? std::optional(quota / period) : std::nullopt;
}

std::optional<double> quota_v1(const Root& root, const std::string& directory) {
  const auto quota = root.number(directory + "/cpu.cfs_quota_us");
  const auto period = root.number(directory + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// Version 1 expresses "no limit" by a number near 2^63.
std::optional<std::int64_t> memory_v1(const Root& root, const std::string& directory) {
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
  const auto bytes = root.number(directory + "/memory.limit_in_bytes");
  return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

// Above memory.high nothing fails, but allocations are throttled, which would disturb a measurement.
std::optional<std::int64_t> memory_v2(const Root& root, const std::string& directory) {
  auto limit = root.number(directory + "/memory.max");
  keep_smaller(limit, root.number(directory + "/memory.high"));
  return limit;
}

// Returns the sum of the numbers after several keys of memory.stat ("key number" in each line).
std::int64_t sum_of(const std::string& memory_stat, std::initializer_list<std::string> keys) {
  std::istringstream lines(memory_stat);
  std::string key;
  std::uint64_t sum = 0;
  for (std::uint64_t value = 0; lines >> key >> value;) {
    if (std::ranges::find(keys, key) != keys.end()) sum += value;
  }
  return static_cast<std::int64_t>(sum);
}

std::optional<MemoryLeft> left_in(const Root& root, const std::string& directory, int version) {
  const bool v1 = version == 1;
  const auto limit = v1 ? memory_v1(root, directory) : memory_v2(root, directory);
  if (!limit) return std::nullopt;
  const auto used = root.number(directory + (v1 ? "/memory.usage_in_bytes" : "/memory.current")).value_or(0);
  // Not the whole of `file` or `cache`: they include shared memory, which cannot be dropped.
  const std::string stat = root.text(directory + "/memory.stat").value_or("");
  const std::int64_t droppable =
      v1 ? sum_of(stat, {"total_active_file", "total_inactive_file"}) : sum_of(stat, {"active_file", "inactive_file"});
  const std::int64_t kept = std::max<std::int64_t>(0, used - droppable);
  return MemoryLeft{.limit_bytes = *limit, .left_bytes = std::max<std::int64_t>(0, *limit - kept)};
}

// A group counts how often its own quota throttled, not those of its ancestors: the smallest quota decides.
void keep_quota(Limits& limits, const Root& root, const std::optional<double>& cpus, const std::string& directory) {
  const bool decides = cpus && (!limits.cpus || *cpus < *limits.cpus);
  keep_smaller(limits.cpus, cpus);
  const std::string path = directory + "/cpu.stat";
  if ((decides || limits.cpu_stat_path.empty()) && root.exists(path)) limits.cpu_stat_path = path;
}

Limits read_v2(const Root& root, const std::string& group) {
  const std::string base =
      root.exists("/sys/fs/cgroup/cgroup.controllers") ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
  Limits limits{.cgroup_version = 2, .are_visible = root.exists(base + "/cgroup.controllers")};
  for (const std::string& each : with_ancestors(group)) {
    keep_quota(limits, root, quota_v2(root.text(base + each + "/cpu.max")), base + each);
    keep_smaller(limits.memory_bytes, memory_v2(root, base + each));
    limits.memory_groups.push_back(base + each);
  }
  return limits;
}

Limits read_v1(const Root& root, const std::string& cgroups) {
  Limits limits{.cgroup_version = 1,
                .are_visible = root.exists("/sys/fs/cgroup/cpu") || root.exists("/sys/fs/cgroup/memory")};
  for (const std::string& each : with_ancestors(group_of(cgroups, "cpu").value_or(""))) {
    const std::string directory = "/sys/fs/cgroup/cpu" + each;
    keep_quota(limits, root, quota_v1(root, directory), directory);
  }
  for (const std::string& each : with_ancestors(group_of(cgroups, "memory").value_or(""))) {
    keep_smaller(limits.memory_bytes, memory_v1(root, "/sys/fs/cgroup/memory" + each));
    limits.memory_groups.push_back("/sys/fs/cgroup/memory" + each);
  }
  return limits;
}

}  // namespace

std::optional<MemoryLeft> read_memory_left(const Root& root, const Limits& limits) {
  std::optional<MemoryLeft> least;
  for (const std::string& directory : limits.memory_groups) {
    const auto left = left_in(root, directory, limits.cgroup_version);
    if (left && (!least || left->left_bytes < least->left_bytes)) least = left;
  }
  return least;
}

Limits read_limits(const Root& root) {
  const std::string cgroups = root.text("/proc/self/cgroup").value_or("");
  Limits limits;
  if (group_of(cgroups, "cpu")) {
    limits = read_v1(root, cgroups);
  } else if (const auto group = group_of(cgroups, "")) {
    limits = read_v2(root, *group);
  }
  if (const auto left = read_memory_left(root, limits)) limits.memory_available_bytes = left->left_bytes;
  return limits;
}

}  // namespace nameplate
