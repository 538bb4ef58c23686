// Reads the kernel's state of a TCP connection.
#pragma once

#include <cstdint>

namespace nameplate {

struct TcpState {
  std::uint64_t retransmits = 0;
  std::uint64_t window_bytes = 0;  // the congestion window
  double round_trip_s = 0;         // smoothed
};

// Returns zeros if the kernel does not report it.
TcpState read_tcp(int socket);

}  // namespace nameplate
