#include "cluster/tournament.h"

#include <fmt/format.h>

#include <algorithm>

namespace nameplate {

namespace {

// The number of seats that rotate; with an even number of parties, the last one keeps its seat.
int moving_seats(int parties) { return parties % 2 == 0 ? parties - 1 : parties; }

}  // namespace

int rounds_of(int parties) { return parties < 2 ? 0 : moving_seats(parties); }

int pairs_of(int parties) { return parties * (parties - 1) / 2; }

std::optional<int> opponent(int parties, int round, int party) {
  const int seats = moving_seats(parties);
  // Parties meet if their numbers add up to the round's; a party that would meet itself meets the one that keeps its
  // seat.
  if (party == seats) return round * ((seats + 1) / 2) % seats;
  const int other = (round - party + seats) % seats;
  if (other != party) return other;
  if (seats == parties) return std::nullopt;
  return seats;
}

std::size_t pair_index(int parties, int one, int other) {
  const int row = std::min(one, other);
  const int column = std::max(one, other);
  return static_cast<std::size_t>(row * (2 * parties - row - 1) / 2 + column - row - 1);
}

std::string objection(int nodes, int ranks, bool is_between_nodes) {
  if (ranks < 2) return "one rank only, but a message needs two; launch at least two with --mpi \"mpirun -n 2\"";
  if (is_between_nodes && nodes < 2) return "all ranks run on one node; between=ranks measures pairs of ranks";
  const int parties = is_between_nodes ? nodes : ranks;
  if (parties <= kMaxParties) return "";
  return fmt::format("between={}: {} parties, but all pairs can be recorded for at most {}",
                     is_between_nodes ? "nodes" : "ranks", parties, kMaxParties);
}

}  // namespace nameplate
