#include "machine/disturbance.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace nameplate {

namespace {

double seconds(const timeval& time) {
  constexpr double kMicrosecond = 1e-6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicrosecond;
}

// Long enough for the first lines of the files, which have the counters.
using FileHead = std::array<char, 1024>;

// Returns the beginning of the file's current content; empty if it is not open or not readable.
std::string_view read_head(const Descriptor& file, FileHead& content) {
  if (!file.is_open()) return {};
  const ssize_t size = pread(file.number(), content.data(), content.size(), 0);
  return {content.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

// Returns the number at the start of a text, after blanks, and removes both from it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return value;
}

// The eighth number of the first line of /proc/stat, in clock ticks (proc(5)). Sandboxes show a file in which all are
// 0: they count nothing.
std::optional<double> read_steal(const Descriptor& stat) {
  FileHead content{};
  std::string_view text = read_head(stat, content);
  text.remove_prefix(std::min(text.find(' '), text.size()));  // the name of the line
  constexpr int kStealColumn = 8;
  std::optional<std::int64_t> ticks;
  bool counts = false;
  for (int i = 0; i < kStealColumn; ++i) {
    ticks = take_number(text);
    if (!ticks) return std::nullopt;
    counts = counts || *ticks != 0;
  }
  if (!counts) return std::nullopt;
  return static_cast<double>(*ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::optional<std::int64_t> read_throttled(const Descriptor& cpu_stat) {
  constexpr std::string_view kKey = "nr_throttled ";
  FileHead content{};
  std::string_view text = read_head(cpu_stat, content);
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kKey.size());
  return take_number(text);
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

DisturbanceReader::DisturbanceReader(const Root& root, const Limits& limits, Now now)
    : now_(std::move(now)),
      root_(root),
      stat_(root.open("/proc/stat")),
      cpu_stat_(limits.cpu_stat_path.empty() ? Descriptor() : root.open(limits.cpu_stat_path)),
      thermal_paths_(find_thermal_paths(root)) {}

Disturbance DisturbanceReader::read() {
  constexpr int kTimesItsCost = 200;
  constexpr auto kShortest = std::chrono::milliseconds(1);
  const Time start = now_();
  counts_ = read_files();
  const Time end = now_();
  due_ = end + std::max<Time::duration>(kTimesItsCost * (end - start), kShortest);
  return with_usage();
}

Disturbance DisturbanceReader::read_if_due() { return now_() < due_ ? with_usage() : read(); }

Disturbance DisturbanceReader::with_usage() const {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {.cpu_user_s = seconds(usage.ru_utime),
          .cpu_system_s = seconds(usage.ru_stime),
          .involuntary_switches = usage.ru_nivcsw,
          .system = counts_};
}

// The sum is unknown if a CPU's count is: it may come back at any reading.
std::optional<std::int64_t> DisturbanceReader::read_thermal_throttled() const {
  if (thermal_paths_.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (const std::string& path : thermal_paths_) {
    FileHead content{};
    std::string_view text = read_head(root_.open(path), content);
    const auto events = take_number(text);
    if (!events) return std::nullopt;
    sum += *events;
  }
  return sum;
}

SystemCounts DisturbanceReader::read_files() const {
  SystemCounts now;
  now.steal_s = read_steal(stat_);
  now.cgroup_throttled = read_throttled(cpu_stat_);
  now.thermal_throttled = read_thermal_throttled();
  return now;
}

Disturbance operator-(const Disturbance& after, const Disturbance& before) {
  return {.cpu_user_s = after.cpu_user_s - before.cpu_user_s,
          .cpu_system_s = after.cpu_system_s - before.cpu_system_s,
          .involuntary_switches = after.involuntary_switches - before.involuntary_switches,
          .system = {.steal_s = minus(after.system.steal_s, before.system.steal_s),
                     .cgroup_throttled = minus(after.system.cgroup_throttled, before.system.cgroup_throttled),
                     .thermal_throttled = minus(after.system.thermal_throttled, before.system.thermal_throttled)}};
}

nlohmann::json to_json(const Disturbance& difference) {
  nlohmann::json result = {{"involuntary_switches", difference.involuntary_switches}};
  const SystemCounts& system = difference.system;
  if (system.steal_s) result["steal_s"] = *system.steal_s;
  if (system.cgroup_throttled) result["cgroup_throttled"] = *system.cgroup_throttled;
  if (system.thermal_throttled) result["thermal_throttled"] = *system.thermal_throttled;
  return result;
}

}  // namespace nameplate
