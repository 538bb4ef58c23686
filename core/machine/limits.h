// What the control groups (version 1 or 2) around this process allow it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

struct Limits {
  int cgroup_version = 0;                              // 0: none found
  std::optional<double> cpus;                          // CPU seconds in a second
  std::optional<std::int64_t> memory_bytes;            // the tightest of the group and those around it
  std::optional<std::int64_t> memory_available_bytes;  // what they left when this was read; nothing: no limit
  std::string cpu_stat_path;                           // the cpu.stat that counts throttling; empty: none
  std::vector<std::string> memory_groups;              // their directories of the memory controller, innermost first
};

Limits read_limits(const Root& root);

// A group's limit and how much of it can still be allocated: the limit without what is used, but for the page cache,
// which the kernel drops when it needs room. In bytes.
struct MemoryLeft {
  std::int64_t limit_bytes = 0;
  std::int64_t left_bytes = 0;
};

// Of the group that leaves least, now; nothing where none has a limit.
std::optional<MemoryLeft> read_memory_left(const Root& root, const Limits& limits);

}  // namespace nameplate
