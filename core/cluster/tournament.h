// A round-robin tournament: every party meets every other once, in rounds of disjoint pairs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace nameplate {

// With more parties, the pairs would make a sample's record larger than 5 MB.
inline constexpr int kMaxParties = 1024;

// Returns the number of rounds: parties - 1 if even, parties if odd, none for one party.
int rounds_of(int parties);

int pairs_of(int parties);

// Returns whom a party meets in a round, both counted from 0; nothing if it sits the round out, as one of an odd number
// does in each. This is the circle method: one party keeps its seat, all others rotate by one (Kirkman 1847).
std::optional<int> opponent(int parties, int round, int party);

// Returns a pair's index: the upper triangle of a matrix, row by row (0-1, 0-2, ..., 1-2, ...).
std::size_t pair_index(int parties, int one, int other);

// Returns why the nodes of a job, or its ranks, cannot hold a tournament; "" if they can.
std::string objection(int nodes, int ranks, bool is_between_nodes);

}  // namespace nameplate
