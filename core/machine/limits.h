// What the control groups (version 1 or 2) around this process allow it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

struct Limits {
  int cgroup_version = 0;                    // 0: none found
  std::optional<double> cpus;                // CPU seconds in a second
  std::optional<std::int64_t> memory_bytes;  // the tightest of the group and those around it
  std::string cpu_stat_path;                 // the cpu.stat that counts throttling; empty: none
};

Limits read_limits(const Root& root);

}  // namespace nameplate
