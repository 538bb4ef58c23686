// Running on the CPUs of one NUMA node, and taking memory from one.
#pragma once

#include <optional>

#include "machine/topology.h"

namespace nameplate {

// The CPUs of a node that this process may use. Throws ProbeError(skipped) where there is no such node or no such CPU.
Placement placement_on(const Topology& topology, unsigned node);

// The node that all CPUs of this process belong to; nothing where it may run on several, or the system lists none.
std::optional<int> only_node(const Topology& topology);

// Throws ProbeError(skipped) where there is no such node, or it has no memory.
void require_memory_on(const Topology& topology, unsigned node);

}  // namespace nameplate
