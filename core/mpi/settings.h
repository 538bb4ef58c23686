// Settings that determine how the MPI library sends a message: the library's limits and the system's.
#pragma once

#include <map>
#include <string>

#include "machine/root.h"

namespace nameplate {

// Returns the library's control variables (MPI_T) that are eager limits, in bytes: smaller messages are sent without a
// handshake.
std::map<std::string, double> eager_limits();

// Returns the MTU in bytes of this node's interfaces, except the loopback.
std::map<std::string, double> interface_mtus(const Root& root);

// Returns the default and maximum size of TCP's buffers in bytes: {"tcp_rmem default", 131072}.
std::map<std::string, double> socket_buffers(const Root& root);

}  // namespace nameplate
