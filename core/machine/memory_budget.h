// How much memory a probe may allocate without driving the machine into swap or the control group into its killer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/machine.h"

namespace nameplate {

struct MemoryBudget {
  std::int64_t usable_bytes = 0;  // 90 % of what is free: the rest is for everybody else, who goes on allocating
  std::int64_t free_bytes = 0;    // the smaller of MemAvailable (proc(5)) and what the control groups leave
  std::int64_t total_bytes = 0;   // what it is free of: the machine's memory or the group's limit
  bool of_group = false;          // which of the two
};

// As it is now, not as it was when the machine was read. Nothing where the system says neither.
std::optional<MemoryBudget> read_memory_budget(const Machine& machine);

// Refuses the experiment (probe/error.h) if `bytes` are more than may be allocated, with the figures. `what` needs
// them, in the words of the refusal: "three arrays of size=8GiB".
void require_memory(std::int64_t bytes, const Machine& machine, const std::string& what);

}  // namespace nameplate
