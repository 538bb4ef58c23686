// Assigns the ranks of a job to pairs that exchange messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nameplate {

// block: rank i with i + half, as osu_mbw_mr; mirrored: i with the i-th from the end; adjacent: 2i with 2i + 1; random:
// by the seed.
enum class PairingKind { block, mirrored, adjacent, random };

struct Pairing {
  PairingKind kind = PairingKind::block;
  int ranks = 0;  // of the job; if odd, one rank is idle
  int pairs = 0;  // concurrent pairs, at most half of the ranks
  std::uint64_t seed = 0;
};

struct PairRole {
  int pair = 0;  // counted from 0
  int partner = 0;
  bool is_first = false;  // starts each exchange, and times it
};

PairingKind parse_pairing(const std::string& word);

// Returns a rank's role; nothing for an idle rank. It needs no list of ranks, which would be long in a large job.
std::optional<PairRole> role_of(const Pairing& pairing, int rank);

// Returns the rank that starts a pair's exchanges.
int first_of(const Pairing& pairing, int pair);

}  // namespace nameplate
