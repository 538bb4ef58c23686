#include "machine/limits.h"

#include <algorithm>
#include <sstream>

namespace nameplate {

namespace {

// A group and all groups around it, innermost first: "/a/b" gives "/a/b", "/a", "".
std::vector<std::string> with_ancestors(std::string group) {
  if (group == "/") group.clear();
  std::vector<std::string> result = {group};
  while (!group.empty()) {
    group.erase(group.rfind('/'));
    result.push_back(group);
  }
  return result;
}

// The group of a controller in /proc/self/cgroup ("4:cpu,cpuacct:/user"); version 2 has the empty controller name.
std::optional<std::string> group_of(const std::string& cgroups, const std::string& controller) {
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find("," + controller + ",") != std::string::npos) return line.substr(second + 1);
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

// Version 1 says "no limit" by a number near 2^63.
std::optional<std::int64_t> memory_v1(const Root& root, const std::string& directory) {
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
  const auto bytes = root.number(directory + "/memory.limit_in_bytes");
  return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

Limits read_v2(const Root& root, const std::string& group) {
  const std::string base =
      root.exists("/sys/fs/cgroup/cgroup.controllers") ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
  Limits limits{.cgroup_version = 2};
  for (const std::string& each : with_ancestors(group)) {
    keep_smaller(limits.cpus, quota_v2(root.text(base + each + "/cpu.max")));
    keep_smaller(limits.memory_bytes, root.number(base + each + "/memory.max"));
    if (limits.cpu_stat_path.empty() && root.exists(base + each + "/cpu.stat")) {
      limits.cpu_stat_path = base + each + "/cpu.stat";
    }
  }
  return limits;
}

Limits read_v1(const Root& root, const std::string& cgroups) {
  Limits limits{.cgroup_version = 1};
  for (const std::string& each : with_ancestors(group_of(cgroups, "cpu").value_or(""))) {
    keep_smaller(limits.cpus, quota_v1(root, "/sys/fs/cgroup/cpu" + each));
    if (limits.cpu_stat_path.empty() && root.exists("/sys/fs/cgroup/cpu" + each + "/cpu.stat")) {
      limits.cpu_stat_path = "/sys/fs/cgroup/cpu" + each + "/cpu.stat";
    }
  }
  for (const std::string& each : with_ancestors(group_of(cgroups, "memory").value_or(""))) {
    keep_smaller(limits.memory_bytes, memory_v1(root, "/sys/fs/cgroup/memory" + each));
  }
  return limits;
}

}  // namespace

Limits read_limits(const Root& root) {
  const std::string cgroups = root.text("/proc/self/cgroup").value_or("");
  if (group_of(cgroups, "cpu")) return read_v1(root, cgroups);
  if (const auto group = group_of(cgroups, "")) return read_v2(root, *group);
  return {};
}

}  // namespace nameplate
