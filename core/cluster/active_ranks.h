// Selects the ranks of a node that take part in an experiment that needs fewer than the launcher started.
#pragma once

namespace nameplate {

// Returns whether rank `local_rank` (counted from 0) of a node's `ranks` is one of the `active` ones. They are
// evenly spaced, so that ranks bound to consecutive cores load every socket equally; the first rank is always active.
bool takes_part(int local_rank, int ranks, int active);

}  // namespace nameplate
