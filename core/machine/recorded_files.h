// Rejects recorded machines whose files no kernel writes.
#pragma once

#include "machine/root.h"

namespace nameplate {

// hwloc reads a recorded machine's files without limits: it waits for the writer of a pipe, and allocates memory for
// every CPU up to the highest number. Throws ProbeError with the first file below proc and sys that is not
// regular, is larger than any of Linux, or names a CPU or NUMA node that Linux cannot have.
void check_recorded_files(const Root& root);

}  // namespace nameplate
