// A round-robin tournament: all meet each other once, many at the same time, and nobody two others at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace nameplate {

// The pairs of more would make a sample's record of more than 5 MB.
inline constexpr int kMaxParties = 1024;

// How many rounds there are: of an even number of parties one less, of an odd one as many; of one party none.
int rounds_of(int parties);

int pairs_of(int parties);

// Whom a party meets in a round, both counted from 0; nobody, where it sits the round out, as one of an odd number does
// in each. This is the circle method: one party keeps its seat, all others move on by one (Kirkman 1847).
std::optional<int> opponent(int parties, int round, int party);

// A pair's place among all: the upper triangle of a matrix, row by row (0-1, 0-2, ..., 1-2, ...).
std::size_t pair_index(int parties, int one, int other);

// Why the nodes of a job, or its ranks, cannot meet; "" where they can.
std::string objection(int nodes, int ranks, bool is_between_nodes);

}  // namespace nameplate
