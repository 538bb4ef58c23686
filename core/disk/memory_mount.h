// A mount whose files serve as memory: which of several is the nearest, and what it really is, whatever is claimed.
#pragma once

#include <string>
#include <vector>

#include "machine/root.h"
#include "machine/topology.h"

namespace nameplate {

enum class MountKind {
  dax,     // loads and stores reach the device itself
  memory,  // tmpfs, or a disk in memory: the machine's own
  file,    // through the page cache
};
std::string to_string(MountKind kind);

struct MemoryMount {
  std::string directory;    // absolute, without symbolic links
  std::string file_system;  // ext4, xfs, tmpfs, …
  MountKind kind = MountKind::file;
};

// The directories of a list with colons between. Throws ProbeError(failed) for one that is not there.
std::vector<std::string> directories_in(const std::string& paths);

// Of several directories the one nearest to the NUMA node that this process is bound to: by the nodes of their devices,
// or where these do not tell, one for each node in the nodes' order. Throws ProbeError(skipped) where neither decides.
std::string nearest_directory(const Root& root, const Topology& topology, const std::vector<std::string>& directories);

MemoryMount mount_at(const Root& root, const std::string& directory);

}  // namespace nameplate
