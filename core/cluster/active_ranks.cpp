#include "cluster/active_ranks.h"

#include <cstdint>

namespace nameplate {

// Of every step of `active` along the places, the one that reaches or passes a multiple of `ranks`.
bool takes_part(int place, int ranks, int active) { return std::int64_t{place} * active % ranks < active; }

}  // namespace nameplate
