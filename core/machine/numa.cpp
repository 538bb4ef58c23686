#include "machine/numa.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>

#include <algorithm>

#include "machine/cpu_bitmap.h"
#include "probe/error.h"

namespace nameplate {

namespace {

const NumaNode& find_node(const Topology& topology, unsigned node) {
  const auto match = std::ranges::find(topology.numa_nodes, static_cast<int>(node), &NumaNode::index);
  if (match != topology.numa_nodes.end()) return *match;
  std::vector<int> there;
  for (const NumaNode& existing : topology.numa_nodes) there.push_back(existing.index);
  refuse(fmt::format("there is no NUMA node {}; this machine has {}", node, fmt::join(there, ", ")));
}

CpuBitmap cpus_of(const NumaNode& node) {
  CpuBitmap cpus(hwloc_bitmap_alloc());
  hwloc_bitmap_list_sscanf(cpus.get(), node.cpus.c_str());
  return cpus;
}

}  // namespace

Placement placement_on(const Topology& topology, unsigned node) {
  const CpuBitmap cpus = cpus_of(find_node(topology, node));
  Placement placement;
  // The first hardware threads of all cores come first, and their order is kept.
  for (std::size_t i = 0; i < topology.allowed.cpus.size(); ++i) {
    if (hwloc_bitmap_isset(cpus.get(), topology.allowed.cpus[i]) == 0) continue;
    placement.cpus.push_back(topology.allowed.cpus[i]);
    if (i < topology.allowed.cores) ++placement.cores;
  }
  if (placement.cpus.empty()) refuse(fmt::format("this process may not use any CPU of NUMA node {}", node));
  return placement;
}

std::optional<int> only_node(const Topology& topology) {
  for (const NumaNode& node : topology.numa_nodes) {
    const CpuBitmap cpus = cpus_of(node);
    const bool has_all =
        std::ranges::all_of(topology.allowed.cpus, [&](unsigned cpu) { return hwloc_bitmap_isset(cpus.get(), cpu); });
    if (has_all && !topology.allowed.cpus.empty()) return node.index;
  }
  return std::nullopt;
}

void require_memory_on(const Topology& topology, unsigned node) {
  if (find_node(topology, node).memory_bytes == 0) refuse(fmt::format("NUMA node {} has no memory", node));
}

}  // namespace nameplate
