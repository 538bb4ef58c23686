// Which ranks of a node take part in an experiment that wants fewer of them than the launcher started.
#pragma once

namespace nameplate {

// Whether the rank at `place` (counted from 0) of a node's `ranks` is one of the `active` ones. They are evenly spaced,
// so that ranks bound to consecutive cores load every socket alike; the first rank is always one of them.
bool takes_part(int place, int ranks, int active);

}  // namespace nameplate
