// A mount whose files serve as memory: finds the nearest of several, and what the mount really is.
#pragma once

#include <string>
#include <vector>

#include "machine/root.h"
#include "machine/topology.h"

namespace nameplate {

enum class MountKind {
  dax,     // loads and stores reach the device
  memory,  // tmpfs, or a RAM disk: ordinary memory
  file,    // through the page cache
};
std::string to_string(MountKind kind);

struct MemoryMount {
  std::string directory;    // absolute, without symbolic links
  std::string file_system;  // ext4, xfs, tmpfs, …
  MountKind kind = MountKind::file;
};

// Splits a colon-separated list. Throws ProbeError(failed) if a directory does not exist.
std::vector<std::string> directories_in(const std::string& paths);

// Returns the directory nearest to the NUMA node that this process is bound to: by the nodes of their devices or, if
// these are not known, by order, one directory per node. Throws ProbeError(skipped) if neither decides.
std::string nearest_directory(const Root& root, const Topology& topology, const std::vector<std::string>& directories);

MemoryMount mount_at(const Root& root, const std::string& directory);

}  // namespace nameplate
