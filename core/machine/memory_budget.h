// Limits the memory of a probe, so that it neither drives the machine into swap nor triggers the control group's OOM
// killer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/machine.h"

namespace nameplate {

struct MemoryBudget {
  std::int64_t usable_bytes = 0;  // 90 % of what is free: other processes continue to allocate
  std::int64_t free_bytes = 0;    // the smaller of MemAvailable (proc(5)) and what the control groups leave
  std::int64_t total_bytes = 0;   // the machine's memory or the group's limit
  bool of_group = false;          // whether the group's limit is the smaller one
};

// Reads the current state, which may differ from when the machine was read. Nothing if the system reports neither.
std::optional<MemoryBudget> read_memory_budget(const Machine& machine);

// Refuses the experiment (probe/error.h) if `bytes` exceed the budget, and states the numbers. `consumer` names what
// needs the memory: "three arrays of size=8GiB".
void require_memory(std::int64_t bytes, const Machine& machine, const std::string& consumer);

}  // namespace nameplate
