// The CPUs on which the workers of a team run.
#pragma once

#include <sched.h>

#include <array>
#include <vector>

namespace nameplate {

// The CPUs (operating system numbers) that this process may use, in the order in which workers take them: the first
// hardware thread of every core, then the siblings.
struct Placement {
  std::vector<unsigned> cpus;
  unsigned cores = 0;  // the number of distinct physical cores

  unsigned cpu_of(unsigned worker) const { return cpus[worker % cpus.size()]; }
};

// A set of CPUs for the calls of Linux, which supports at most 8,192.
using CpuMask = std::array<cpu_set_t, 8>;

// Binds the calling thread to one CPU during its lifetime, and restores the previous binding. If the system refuses a
// binding (a sandbox), the thread runs where it may.
class ScopedBinding {
 public:
  explicit ScopedBinding(unsigned cpu);
  ScopedBinding(const ScopedBinding&) = delete;
  ScopedBinding& operator=(const ScopedBinding&) = delete;
  ScopedBinding(ScopedBinding&&) = delete;
  ScopedBinding& operator=(ScopedBinding&&) = delete;
  ~ScopedBinding();

 private:
  CpuMask previous_{};
  bool bound_ = false;
};

}  // namespace nameplate
