// CPUs and memory of a single NUMA node.
#pragma once

#include <optional>

#include "machine/topology.h"

namespace nameplate {

// Returns the CPUs of a node that this process may use. Throws ProbeError(skipped) if there is no such node or CPU.
Placement placement_on(const Topology& topology, unsigned node);

// Returns the node of all CPUs of this process; nothing if it may run on several, or the system lists none.
std::optional<int> only_node(const Topology& topology);

// Throws ProbeError(skipped) if there is no such node, or it has no memory.
void require_memory_on(const Topology& topology, unsigned node);

}  // namespace nameplate
