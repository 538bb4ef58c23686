// The limits of the control groups (version 1 or 2) of this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

struct Limits {
  int cgroup_version = 0;                    // of the CPU controller; 0: none found
  bool are_visible = false;                  // whether the group's files can be read: containers may hide them
  std::optional<double> cpus;                // CPU seconds per second
  std::optional<std::int64_t> memory_bytes;  // the smallest of the group and its ancestors
  std::optional<std::int64_t>
      memory_available_bytes;              // what was left of them when this was read; nothing if there is no limit
  std::string cpu_stat_path;               // cpu.stat of the group with that quota; empty if there is none
  int memory_version = 0;                  // of the hierarchy that has the memory controller
  std::vector<std::string> memory_groups;  // the directories of its memory controllers, innermost first
};

Limits read_limits(const Root& root);

// A group's limit, and how much can still be allocated: the limit minus the usage without the page cache, which the
// kernel drops when it needs memory. In bytes.
struct MemoryLeft {
  std::int64_t limit_bytes = 0;
  std::int64_t left_bytes = 0;  // the limit itself if the usage is unknown
  bool is_usage_known = true;
};

// Returns the current state of the group with the least memory left; nothing if none has a limit.
std::optional<MemoryLeft> read_memory_left(const Root& root, const Limits& limits);

}  // namespace nameplate
