// The way to a peer, as this machine's system describes it. No address of anybody is in it.
#pragma once

#include <cstdint>
#include <string>

#include "machine/root.h"
#include "net/address.h"

namespace nameplate {

struct NetworkPath {
  std::string interface;            // eth0; empty: not told
  std::string route;                // "this machine", "direct" (the same network), "gateway", or empty
  std::uint32_t interface_mtu = 0;  // bytes; 0: not told
  std::uint32_t path_mtu = 0;       // of the connected socket
  std::uint32_t segment_bytes = 0;  // of TCP, of the connected socket; 0: not told
  double link_bits_per_s = 0;       // of the interface; 0: not told
  std::string congestion;           // TCP's, of the connected socket
  bool is_local = false;            // it does not leave this machine
};

// Of a connected TCP socket.
NetworkPath path_of(const Root& root, int socket);

}  // namespace nameplate
