// Packages, cores, hardware threads, caches and NUMA nodes, as hwloc finds them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/affinity.h"
#include "machine/cpuid_caches.h"
#include "machine/root.h"

namespace nameplate {

struct Cache {
  int level = 0;
  std::string type;  // data, instruction or unified
  std::int64_t size_bytes = 0;
  std::int64_t line_bytes = 0;
  int ways = 0;       // 0: not said
  int count = 0;      // how many of these the machine has
  int shared_by = 0;  // hardware threads that share one
};

struct NumaNode {
  int index = 0;
  std::string cpus;  // as a list: 0-3,8
  std::int64_t memory_bytes = 0;
};

// Cores of one kind; a hybrid CPU has several, the most efficient first.
struct CoreKind {
  std::string name;  // IntelCore, IntelAtom, or empty
  int cores = 0;
  std::int64_t maximum_frequency_hz = 0;  // 0: not said
};

struct Topology {
  int packages = 0;
  int cores = 0;
  int threads = 0;
  std::vector<Cache> caches;             // as the kernel lists them
  std::vector<CpuidCache> cpuid_caches;  // as the CPU of the first worker tells them; other kinds of cores may differ
  std::vector<NumaNode> numa_nodes;
  std::vector<CoreKind> core_kinds;
  Placement allowed;  // of this process
};

// Throws std::runtime_error when hwloc cannot read the machine at all.
Topology read_topology(const Root& root);

}  // namespace nameplate
