// The path to a peer, as this machine's system describes it, without any address.
#pragma once

#include <cstdint>
#include <string>

#include "machine/root.h"
#include "net/address.h"

namespace nameplate {

struct NetworkPath {
  std::string interface;            // eth0; empty if not known
  std::string route;                // "this machine", "direct" (the same network), "gateway", or empty
  std::uint32_t interface_mtu = 0;  // bytes; 0 if not known
  std::uint32_t path_mtu = 0;       // of the connected socket
  std::uint32_t segment_bytes = 0;  // of TCP, of the connected socket; 0 if not known
  double link_bits_per_s = 0;       // of the interface; 0 if not known
  std::string congestion;           // TCP's, of the connected socket
  bool is_local = false;            // the traffic does not leave this machine
};

// For a connected TCP socket.
NetworkPath path_of(const Root& root, int socket);

}  // namespace nameplate
