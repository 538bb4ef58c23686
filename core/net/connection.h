// One connection of a session on either side: a TCP socket and, for UDP, a datagram socket.
#pragma once

#include <atomic>
#include <cstdint>

#include "machine/descriptor.h"
#include "net/traffic.h"

namespace nameplate {

struct Connection {
  Descriptor stream;
  Descriptor datagrams;    // for UDP
  double connect_s = 0;    // the time of the TCP connect
  std::uint64_t seed = 0;  // of the content that is sent

  // The socket that carries the traffic.
  int socket() const { return datagrams.is_open() ? datagrams.number() : stream.number(); }
};

// The state that the thread of a connection reports to its observer, on a cache line of its own.
struct alignas(64) ConnectionState {
  std::atomic<bool> stopped{false};
  std::atomic<std::uint64_t> bytes{0};

  void count(std::uint64_t more) {
    bytes.store(bytes.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

}  // namespace nameplate
