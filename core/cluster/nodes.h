// Finds the nodes of a job, and checks that all evidence about them agrees.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "machine/machine.h"

namespace nameplate {

// Identifies one system: its host name, its boot, and its UTS namespace, since several "hosts" may run on one kernel.
// It has a fixed size, so that it can be sent as it is.
struct NodeIdentity {
  std::array<char, 65> host{};
  std::array<char, 40> boot{};
  std::array<char, 32> name_space{};

  bool operator==(const NodeIdentity&) const = default;
};

// One node as described by its first rank.
struct NodeRecord {
  NodeIdentity identity;
  int first_rank = 0;
  int ranks = 0;
};

NodeIdentity read_node_identity();

// Returns words for the stable properties that a node's performance depends on, equal for nodes that should be equally
// fast. Memory is rounded up by up to an eighth, since firmware reserves some of it.
std::string hardware_of(const Machine& machine);

// Returns why these records cannot be the nodes of one job; "" if they can. Two nodes with the same identity are one
// system that MPI took for two, as some releases did for every rank.
std::string contradiction(const std::vector<NodeRecord>& nodes);

}  // namespace nameplate
