#include "machine/limits.h"

#include <algorithm>
#include <initializer_list>
#include <sstream>

#include "machine/control_groups.h"

namespace nameplate {

namespace {

template <class T>
void keep_smaller(std::optional<T>& limit, std::optional<T> candidate) {
  if (candidate && (!limit || *candidate < *limit)) limit = candidate;
}

// A number of CPUs, nothing for no limit. It is not known if the group's file says neither.
struct Quota {
  std::optional<double> cpus;
  bool is_known = true;
};

Quota ratio_of(std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0) return {.cpus = {}, .is_known = false};
  return {.cpus = static_cast<double>(quota) / static_cast<double>(period)};
}

// cpu.max: "quota period" in microseconds, or "max period".
Quota quota_v2(const Root& root, const std::string& directory) {
  if (!root.exists(directory + "/cpu.max")) return {};  // the root group has none
  const std::string text = root.text(directory + "/cpu.max").value_or("");
  if (text == "max" || text.starts_with("max ")) return {};
  std::istringstream numbers(text);
  std::int64_t quota = 0;
  std::int64_t period = 0;
  numbers >> quota >> period;
  return numbers && (numbers >> std::ws).eof() ? ratio_of(quota, period) : Quota{.cpus = {}, .is_known = false};
}

// A negative quota is no limit.
Quota quota_v1(const Root& root, const std::string& directory) {
  if (!root.exists(directory + "/cpu.cfs_quota_us")) return {};
  const auto quota = root.number(directory + "/cpu.cfs_quota_us");
  if (quota && *quota < 0) return {};
  return ratio_of(quota.value_or(0), root.number(directory + "/cpu.cfs_period_us").value_or(0));
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

std::optional<std::int64_t> memory_limit(const Root& root, const std::string& directory, int version) {
  return version == 1 ? memory_v1(root, directory) : memory_v2(root, directory);
}

std::optional<MemoryLeft> left_in(const Root& root, const std::string& directory, int version) {
  const bool v1 = version == 1;
  const auto limit = memory_limit(root, directory, version);
  if (!limit) return std::nullopt;
  const auto used = root.number(directory + (v1 ? "/memory.usage_in_bytes" : "/memory.current"));
  if (!used) return MemoryLeft{.limit_bytes = *limit, .left_bytes = *limit, .is_usage_known = false};
  // Not the whole of `file` or `cache`: they include shared memory, which cannot be dropped.
  const std::string stat = root.text(directory + "/memory.stat").value_or("");
  const std::int64_t droppable =
      v1 ? sum_of(stat, {"total_active_file", "total_inactive_file"}) : sum_of(stat, {"active_file", "inactive_file"});
  const std::int64_t held = std::max<std::int64_t>(0, *used - droppable);
  return MemoryLeft{.limit_bytes = *limit, .left_bytes = std::max<std::int64_t>(0, *limit - held)};
}

// A group counts how often its own quota throttled, not those of its ancestors: the smallest quota decides.
void keep_quota(Limits& limits, const Root& root, const std::optional<double>& cpus, const std::string& directory) {
  const bool decides = cpus && (!limits.cpus || *cpus < *limits.cpus);
  keep_smaller(limits.cpus, cpus);
  const std::string path = directory + "/cpu.stat";
  if ((decides || limits.cpu_stat_path.empty()) && root.exists(path)) limits.cpu_stat_path = path;
}

}  // namespace

std::optional<MemoryLeft> read_memory_left(const Root& root, const Limits& limits) {
  std::optional<MemoryLeft> least;
  for (const std::string& directory : limits.memory_groups) {
    const auto left = left_in(root, directory, limits.memory_version);
    if (left && (!least || left->left_bytes < least->left_bytes)) least = left;
  }
  return least;
}

Limits read_limits(const Root& root) {
  const ControlGroups cpu = find_control_groups(root, "cpu");
  const ControlGroups memory = find_control_groups(root, "memory");
  Limits limits{.cgroup_version = cpu.version,
                .are_visible = cpu.is_visible && (memory.is_visible || memory.version != cpu.version),
                .memory_version = memory.version,
                .memory_groups = memory.directories};
  for (const std::string& directory : cpu.directories) {
    const Quota quota = cpu.version == 1 ? quota_v1(root, directory) : quota_v2(root, directory);
    if (!quota.is_known) limits.are_visible = false;
    keep_quota(limits, root, quota.cpus, directory);
  }
  for (const std::string& directory : memory.directories) {
    keep_smaller(limits.memory_bytes, memory_limit(root, directory, memory.version));
  }
  const auto left = read_memory_left(root, limits);
  if (left && left->is_usage_known) limits.memory_available_bytes = left->left_bytes;
  return limits;
}

}  // namespace nameplate
