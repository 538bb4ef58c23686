// The caches as the CPU reports them through CPUID: leaf 4 "Deterministic Cache Parameters" (Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2A, CPUID) or leaf 0x8000001D "Cache Topology Information" (AMD64
// Architecture Programmer's Manual, volume 3, appendix E), which have the same layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

struct CpuidCache {
  int level = 0;
  std::string type;  // data, instruction or unified
  std::int64_t size_bytes = 0;
  std::int64_t line_bytes = 0;
  int ways = 0;
  // The number of hardware thread IDs reserved for the threads that share one cache, often more than exist.
  int shared_by = 0;
};

// Reads the caches of the CPU that this runs on; none without CPUID. A recorded machine has its answers in
// /recorded/cpuid, in the format of `cpuid -1 -r`; without that file there are none.
std::vector<CpuidCache> read_cpuid_caches(const Root& root);

}  // namespace nameplate
