// What decides how the MPI library sends a message: the library's limits and the system's.
#pragma once

#include <map>
#include <string>

#include "machine/root.h"

namespace nameplate {

// The library's control variables (MPI_T) that name an eager limit, in bytes: what is not larger is sent without asking
// the receiver first.
std::map<std::string, double> eager_limits();

// Of this node's interfaces but the loopback, in bytes.
std::map<std::string, double> interface_mtus(const Root& root);

// The default and the greatest size of TCP's buffers, in bytes: {"tcp_rmem default", 131072}.
std::map<std::string, double> socket_buffers(const Root& root);

}  // namespace nameplate
