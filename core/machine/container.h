// Finds the container in which this process runs, and what the container forbids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

// Returns the container in which this process runs, such as "docker", "podman", "kubernetes" or "apptainer"; nothing if
// none is detected.
std::optional<std::string> read_container(const Root& root);

// Returns the system calls that probes use and that this process may not make, because of seccomp or a setting of the
// kernel, or because the kernel lacks them; none for a recorded machine. Nothing is set up or changed.
std::vector<std::string> read_blocked_calls(const Root& root);

}  // namespace nameplate
