#include "machine/affinity.h"

#include <sched.h>

namespace nameplate {

// The calls of Linux, not those of hwloc: hwloc binds nothing, and reports success, while its topology is not that of
// this system.
ScopedBinding::ScopedBinding(unsigned cpu) {
  CpuMask target{};
  CPU_SET_S(cpu, sizeof target, target.data());
  bound_ = sched_getaffinity(0, sizeof previous_, previous_.data()) == 0 &&
           sched_setaffinity(0, sizeof target, target.data()) == 0;
}

ScopedBinding::~ScopedBinding() {
  if (bound_) sched_setaffinity(0, sizeof previous_, previous_.data());
}

}  // namespace nameplate
