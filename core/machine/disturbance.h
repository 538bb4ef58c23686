// Counts the disturbances of a sample: the difference of readings of the process and the machine before and after it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/descriptor.h"
#include "machine/limits.h"
#include "machine/root.h"

namespace nameplate {

// The counts that the system keeps in files. A missing value is unknown, not 0.
struct SystemCounts {
  std::optional<double> steal_s;                  // time for which the hypervisor ran something else, summed over CPUs
  std::optional<std::int64_t> cgroup_throttled;   // periods in which the cgroup's quota was exhausted
  std::optional<std::int64_t> thermal_throttled;  // events on all cores
};

struct Disturbance {
  double cpu_user_s = 0;  // of this process, all threads
  double cpu_system_s = 0;
  std::int64_t involuntary_switches = 0;  // times that the scheduler took a CPU away from this process
  SystemCounts system;
};

// Opens the files of the system once, since opening them takes longer than reading them. Those of the cores are opened
// each time: a large machine has more of them than a process may have open.
class DisturbanceReader {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Now = std::function<Time()>;

  // `now` tells the time by which files are due.
  DisturbanceReader(const Root& root, const Limits& limits, Now now = std::chrono::steady_clock::now);

  // Reads everything anew.
  Disturbance read();
  // Leaves the files alone if they were read a short time ago, so that reading them takes at most 0.5 % of the time:
  // with hundreds of CPUs it takes milliseconds. An event may then count in the next reading. The kernel itself counts
  // steal in steps of 10 ms.
  Disturbance read_if_due();

 private:
  SystemCounts read_files() const;
  std::optional<std::int64_t> read_thermal_throttled() const;
  Disturbance with_usage() const;

  Now now_;
  SystemCounts counts_;
  Time due_;
  Root root_;
  Descriptor stat_;
  Descriptor cpu_stat_;
  std::vector<std::string> thermal_paths_;
};

Disturbance operator-(const Disturbance& after, const Disturbance& before);

nlohmann::json to_json(const Disturbance& difference);

}  // namespace nameplate
