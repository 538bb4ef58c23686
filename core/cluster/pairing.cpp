#include "cluster/pairing.h"

#include "kernels/permutation.h"

namespace nameplate {

namespace {

// The ranks of a random order are paired as neighbours. The seed rotates the ranks between two permutations, so that
// every seed below the number of ranks gives another order.
int place_of(const Pairing& pairing, int rank) {
  if (pairing.kind != PairingKind::random) return rank;
  const auto ranks = static_cast<std::uint64_t>(pairing.ranks);
  const Permutation order(ranks);
  return static_cast<int>(order((order(static_cast<std::uint64_t>(rank)) + pairing.seed) % ranks));
}

int rank_at(const Pairing& pairing, int place) {
  if (pairing.kind != PairingKind::random) return place;
  const auto ranks = static_cast<std::uint64_t>(pairing.ranks);
  const Permutation order(ranks);
  const std::uint64_t turned = order.inverse(static_cast<std::uint64_t>(place)) + ranks - pairing.seed % ranks;
  return static_cast<int>(order.inverse(turned % ranks));
}

bool are_neighbours(PairingKind kind) { return kind == PairingKind::adjacent || kind == PairingKind::random; }

int first_place(const Pairing& pairing, int pair) { return are_neighbours(pairing.kind) ? 2 * pair : pair; }

int second_place(const Pairing& pairing, int pair) {
  if (are_neighbours(pairing.kind)) return 2 * pair + 1;
  return pairing.kind == PairingKind::block ? pair + pairing.ranks / 2 : pairing.ranks - 1 - pair;
}

// Returns the pair of a place if all ranks took part.
int pair_at(const Pairing& pairing, int place) {
  if (are_neighbours(pairing.kind)) return place / 2;
  const int half = pairing.ranks / 2;
  if (place < half) return place;
  return pairing.kind == PairingKind::block ? place - half : pairing.ranks - 1 - place;
}

}  // namespace

PairingKind parse_pairing(const std::string& word) {
  if (word == "block") return PairingKind::block;
  if (word == "mirrored") return PairingKind::mirrored;
  return word == "adjacent" ? PairingKind::adjacent : PairingKind::random;
}

std::optional<PairRole> role_of(const Pairing& pairing, int rank) {
  const int place = place_of(pairing, rank);
  const int pair = pair_at(pairing, place);
  if (pair >= pairing.pairs) return std::nullopt;
  const bool is_first = place == first_place(pairing, pair);
  const int other = is_first ? second_place(pairing, pair) : first_place(pairing, pair);
  return PairRole{.pair = pair, .partner = rank_at(pairing, other), .is_first = is_first};
}

int first_of(const Pairing& pairing, int pair) { return rank_at(pairing, first_place(pairing, pair)); }

}  // namespace nameplate
