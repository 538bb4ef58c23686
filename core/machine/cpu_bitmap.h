// A set of CPUs as hwloc keeps it, freed at its end.
#pragma once

#include <hwloc.h>

#include <memory>

namespace nameplate {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using CpuBitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

}  // namespace nameplate
