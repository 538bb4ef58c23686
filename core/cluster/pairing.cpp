#include "cluster/pairing.h"

#include "kernels/permutation.h"

namespace nameplate {

namespace {

// The ranks of a random order are paired as neighbours. The seed rotates the ranks between two permutations, so that
// every seed below the number of ranks gives another order.
int position_of(const Pairing& pairing, int rank) {
  if (pairing.kind != PairingKind::random) return rank;
  const auto ranks = static_cast<std::uint64_t>(pairing.ranks);
  const Permutation order(ranks);
  return static_cast<int>(order((order(static_cast<std::uint64_t>(rank)) + pairing.seed) % ranks));
}

int rank_at(const Pairing& pairing, int position) {
  if (pairing.kind != PairingKind::random) return position;
  const auto ranks = static_cast<std::uint64_t>(pairing.ranks);
  const Permutation order(ranks);
  const std::uint64_t turned = order.inverse(static_cast<std::uint64_t>(position)) + ranks - pairing.seed % ranks;
  return static_cast<int>(order.inverse(turned % ranks));
}

bool are_neighbours(PairingKind kind) { return kind == PairingKind::adjacent || kind == PairingKind::random; }

int first_position(const Pairing& pairing, int pair) { return are_neighbours(pairing.kind) ? 2 * pair : pair; }

int second_position(const Pairing& pairing, int pair) {
  if (are_neighbours(pairing.kind)) return 2 * pair + 1;
  return pairing.kind == PairingKind::block ? pair + pairing.ranks / 2 : pairing.ranks - 1 - pair;
}

// Returns the pair of a position if all ranks took part.
int pair_at(const Pairing& pairing, int position) {
  if (are_neighbours(pairing.kind)) return position / 2;
  const int half = pairing.ranks / 2;
  if (position < half) return position;
  return pairing.kind == PairingKind::block ? position - half : pairing.ranks - 1 - position;
}

}  // namespace

PairingKind parse_pairing(const std::string& word) {
  if (word == "block") return PairingKind::block;
  if (word == "mirrored") return PairingKind::mirrored;
  return word == "adjacent" ? PairingKind::adjacent : PairingKind::random;
}

std::optional<PairRole> role_of(const Pairing& pairing, int rank) {
  const int position = position_of(pairing, rank);
  const int pair = pair_at(pairing, position);
  if (pair >= pairing.pairs) return std::nullopt;
  const bool is_first = position == first_position(pairing, pair);
  const int other = is_first ? second_position(pairing, pair) : first_position(pairing, pair);
  return PairRole{.pair = pair, .partner = rank_at(pairing, other), .is_first = is_first};
}

int first_of(const Pairing& pairing, int pair) { return rank_at(pairing, first_position(pairing, pair)); }

}  // namespace nameplate
