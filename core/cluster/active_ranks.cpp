#include "cluster/active_ranks.h"

#include <cstdint>

namespace nameplate {

// Along the places, `active` advances in steps; a rank takes part if its step reaches or passes a multiple of `ranks`.
bool takes_part(int place, int ranks, int active) { return std::int64_t{place} * active % ranks < active; }

}  // namespace nameplate
