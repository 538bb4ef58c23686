// Which nodes a job runs on, and whether everything that tells it agrees.
#pragma once

#include <array>
#include <string>
#include <vector>

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

// Why these records cannot be the nodes of one job; "" where they can. Two with the same identity are one system that
// MPI took for two, as some releases did for every rank.
std::string contradiction(const std::vector<NodeRecord>& nodes);

}  // namespace nameplate
