// Which CPUs the workers of a team run on.
#pragma once

#include <hwloc.h>

#include <vector>

namespace nameplate {

// The CPUs (operating system numbers) this process may use, in the order in which workers take them: the first hardware
// thread of every core, then the siblings.
struct Placement {
  std::vector<unsigned> cpus;
  unsigned cores = 0;  // how many distinct physical cores they belong to

  unsigned cpu_of(unsigned worker) const { return cpus[worker % cpus.size()]; }
};

// Binds the calling thread to one CPU for as long as it lives, and puts back what was before. A binding that the system
// refuses (a sandbox) is left undone: the thread then runs where it may.
class ScopedBinding {
 public:
  explicit ScopedBinding(unsigned cpu);
  ScopedBinding(const ScopedBinding&) = delete;
  ScopedBinding& operator=(const ScopedBinding&) = delete;
  ScopedBinding(ScopedBinding&&) = delete;
  ScopedBinding& operator=(ScopedBinding&&) = delete;
  ~ScopedBinding();

 private:
  hwloc_bitmap_t previous_;
  bool bound_;
};

}  // namespace nameplate
