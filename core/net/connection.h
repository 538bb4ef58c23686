// One connection of a session as either side holds it: a TCP socket and, for UDP, a datagram socket beside it.
#pragma once

#include <atomic>
#include <cstdint>

#include "machine/descriptor.h"
#include "net/traffic.h"

namespace nameplate {

struct Connection {
  Descriptor stream;
  Descriptor datagrams;    // of UDP
  double connect_s = 0;    // how long TCP's took
  std::uint64_t seed = 0;  // of what is sent

  // Where the traffic goes.
  int socket() const { return datagrams.is_open() ? datagrams.number() : stream.number(); }
};

// What the thread of a connection tells whoever watches it, on a cache line of its own.
struct alignas(64) ConnectionState {
  std::atomic<bool> stopped{false};
  std::atomic<std::uint64_t> bytes{0};

  void count(std::uint64_t more) {
    bytes.store(bytes.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

}  // namespace nameplate
