#include "machine/affinity.h"

#include <hwloc/linux.h>

namespace nameplate {

namespace {

// Loading a topology takes milliseconds and binding needs none of its content, so one serves every thread.
hwloc_topology_t binding_topology() {
  static const hwloc_topology_t topology = [] {
    hwloc_topology_t made = nullptr;
    hwloc_topology_init(&made);
    hwloc_topology_load(made);
    return made;
  }();
  return topology;
}

}  // namespace

ScopedBinding::ScopedBinding(unsigned cpu) : previous_(hwloc_bitmap_alloc()) {
  hwloc_topology_t topology = binding_topology();
  hwloc_get_cpubind(topology, previous_, HWLOC_CPUBIND_THREAD);
  hwloc_bitmap_t target = hwloc_bitmap_alloc();
  hwloc_bitmap_only(target, cpu);
  bound_ = hwloc_set_cpubind(topology, target, HWLOC_CPUBIND_THREAD) == 0;
  hwloc_bitmap_free(target);
}

ScopedBinding::~ScopedBinding() {
  if (bound_) hwloc_set_cpubind(binding_topology(), previous_, HWLOC_CPUBIND_THREAD);
  hwloc_bitmap_free(previous_);
}

}  // namespace nameplate
