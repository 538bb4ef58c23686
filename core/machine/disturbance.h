// What happened to this process and its machine during a sample: readings before and after, and their difference.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/descriptor.h"
#include "machine/limits.h"
#include "machine/root.h"

namespace nameplate {

struct Disturbance {
  double cpu_user_s = 0;  // of this process, all threads
  double cpu_system_s = 0;
  std::int64_t involuntary_switches = 0;          // times that the scheduler took a CPU away from this process
  std::optional<double> steal_s;                  // time for which the hypervisor ran something else, summed over CPUs
  std::optional<std::int64_t> cgroup_throttled;   // periods in which the cgroup's quota was exhausted
  std::optional<std::int64_t> thermal_throttled;  // events on all cores
};

// Opens the files of the system once, since opening them takes longer than reading them, and that is done twice for
// each sample. Those of the cores are opened each time: a large machine has more of them than a process may have open.
class DisturbanceReader {
 public:
  DisturbanceReader(const Root& root, const Limits& limits);

  Disturbance read() const;

 private:
  Root root_;
  Descriptor stat_;
  Descriptor cpu_stat_;
  std::vector<std::string> thermal_paths_;
};

Disturbance operator-(const Disturbance& after, const Disturbance& before);

nlohmann::json to_json(const Disturbance& difference);

}  // namespace nameplate
