// Which rank of a job exchanges messages with which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nameplate {

// block: rank i with i + half, as osu_mbw_mr; mirrored: with the i-th from the end; adjacent: 2i with 2i + 1; random:
// as the seed has it.
enum class PairingKind { block, mirrored, adjacent, random };

struct Pairing {
  PairingKind kind = PairingKind::block;
  int ranks = 0;  // of the job; of an odd number one is always idle
  int pairs = 0;  // at once, at most half of the ranks
  std::uint64_t seed = 0;
};

struct PairRole {
  int pair = 0;  // counted from 0
  int partner = 0;
  bool is_first = false;  // it begins each exchange, and times it
};

PairingKind parse_pairing(const std::string& word);

// What a rank does; nothing for an idle one. Computed without a list of ranks, which a large job's would not want.
std::optional<PairRole> role_of(const Pairing& pairing, int rank);

// The rank that begins a pair's exchanges.
int first_of(const Pairing& pairing, int pair);

}  // namespace nameplate
