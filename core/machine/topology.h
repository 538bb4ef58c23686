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
  int ways = 0;       // 0 if not reported
  int count = 0;      // number of such caches in the machine
  int shared_by = 0;  // hardware threads that share one
};

struct NumaNode {
  int index = 0;
  std::string cpus;  // a list such as 0-3,8
  std::int64_t memory_bytes = 0;
};

// Cores of one kind; a hybrid CPU has several kinds, the most efficient first.
struct CoreKind {
  std::string name;  // IntelCore, IntelAtom, or empty
  int cores = 0;
  std::int64_t maximum_frequency_hz = 0;  // 0 if not reported
};

struct Topology {
  int packages = 0;
  int cores = 0;
  int threads = 0;
  bool are_cores_listed = true;          // if not, each hardware thread whose core is unknown counts as a core
  std::vector<Cache> caches;             // as the kernel lists them
  std::vector<CpuidCache> cpuid_caches;  // as the CPU of the first worker reports them; other kinds of cores may differ
  std::vector<NumaNode> numa_nodes;
  std::vector<CoreKind> core_kinds;
  Placement allowed;  // for this process
};

// Throws std::runtime_error if hwloc cannot read the machine, and ProbeError for files that check_recorded_files()
// rejects.
Topology read_topology(const Root& root);

}  // namespace nameplate
