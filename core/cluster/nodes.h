// Which nodes a job runs on, and whether everything that tells it agrees.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace nameplate {

// What tells one system from another: its name, the kernel's start, and the namespace of the name, since several
// "hosts" may run on one kernel. Fixed in size, so that it can be sent as it is.
struct NodeIdentity {
  std::array<char, 65> host{};
  std::array<char, 40> boot{};
  std::array<char, 32> name_space{};

  bool operator==(const NodeIdentity&) const = default;
};

// One node as its first rank tells it.
struct NodeRecord {
  NodeIdentity identity;
  int first_rank = 0;
  int ranks = 0;
};

NodeIdentity read_node_identity();

// What figures of nodes depend on, from what does not change: the same words for nodes that ought to be equally fast.
// Memory is rounded up by up to an eighth, since a firmware keeps some of it.
std::string hardware_of(const Machine& machine);

// Why these records cannot be the nodes of one job; "" where they can. Two with the same identity are one system that
// MPI took for two, as some releases did for every rank.
std::string contradiction(const std::vector<NodeRecord>& nodes);

}  // namespace nameplate
