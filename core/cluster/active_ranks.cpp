#include "cluster/active_ranks.h"

#include <cstdint>

namespace nameplate {

// Along the local ranks, `active` advances in steps; a rank takes part if its step reaches or passes a multiple of
// `ranks`.
bool takes_part(int local_rank, int ranks, int active) { return std::int64_t{local_rank} * active % ranks < active; }

}  // namespace nameplate
