#include "machine/disturbance.h"

#include <sys/resource.h>
#include <unistd.h>

#include <sstream>

namespace nameplate {

namespace {

double seconds(const timeval& time) {
  constexpr double kMicrosecond = 1e-6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicrosecond;
}

// The eighth number of the first line of /proc/stat, in clock ticks (proc(5)).
std::optional<double> read_steal(const Root& root) {
  const auto stat = root.text("/proc/stat");
  if (!stat) return std::nullopt;
  std::istringstream words(*stat);
  std::string name;
  words >> name;
  constexpr int kStealColumn = 8;
  std::int64_t ticks = 0;
  for (int i = 0; i < kStealColumn; ++i) words >> ticks;
  if (!words) return std::nullopt;
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::optional<std::int64_t> read_throttled(const Root& root, const std::string& cpu_stat_path) {
  if (cpu_stat_path.empty()) return std::nullopt;
  std::istringstream lines(root.text(cpu_stat_path).value_or(""));
  std::string key;
  for (std::int64_t value = 0; lines >> key >> value;) {
    if (key == "nr_throttled") return value;
  }
  return std::nullopt;
}

std::vector<std::string> find_thermal_paths(const Root& root) {
  const std::string cpus = "/sys/devices/system/cpu/";
  std::vector<std::string> result;
  for (const std::string& name : root.names(cpus)) {
    const std::string path = cpus + name + "/thermal_throttle/core_throttle_count";
    if (root.exists(path)) result.push_back(path);
  }
  return result;
}

template <class T>
std::optional<T> minus(const std::optional<T>& after, const std::optional<T>& before) {
  return after && before ? std::optional<T>(*after - *before) : std::nullopt;
}

}  // namespace

DisturbanceReader::DisturbanceReader(const Root& root, const Limits& limits)
    : root_(root), cpu_stat_path_(limits.cpu_stat_path), thermal_paths_(find_thermal_paths(root)) {}

Disturbance DisturbanceReader::read() const {
  Disturbance now;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  now.cpu_user_s = seconds(usage.ru_utime);
  now.cpu_system_s = seconds(usage.ru_stime);
  now.involuntary_switches = usage.ru_nivcsw;
  now.steal_s = read_steal(root_);
  now.cgroup_throttled = read_throttled(root_, cpu_stat_path_);
  if (!thermal_paths_.empty()) {
    now.thermal_throttled = 0;
    for (const std::string& path : thermal_paths_) *now.thermal_throttled += root_.number(path).value_or(0);
  }
  return now;
}

Disturbance operator-(const Disturbance& after, const Disturbance& before) {
  return {.cpu_user_s = after.cpu_user_s - before.cpu_user_s,
          .cpu_system_s = after.cpu_system_s - before.cpu_system_s,
          .involuntary_switches = after.involuntary_switches - before.involuntary_switches,
          .steal_s = minus(after.steal_s, before.steal_s),
          .cgroup_throttled = minus(after.cgroup_throttled, before.cgroup_throttled),
          .thermal_throttled = minus(after.thermal_throttled, before.thermal_throttled)};
}

nlohmann::json to_json(const Disturbance& difference) {
  nlohmann::json result = {{"involuntary_switches", difference.involuntary_switches}};
  if (difference.steal_s) result["steal_s"] = *difference.steal_s;
  if (difference.cgroup_throttled) result["cgroup_throttled"] = *difference.cgroup_throttled;
  if (difference.thermal_throttled) result["thermal_throttled"] = *difference.thermal_throttled;
  return result;
}

}  // namespace nameplate
