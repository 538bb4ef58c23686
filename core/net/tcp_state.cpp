#include "net/tcp_state.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace nameplate {

TcpState read_tcp(int socket) {
  constexpr double kMicroseconds = 1e6;
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  return {.retransmits = info.tcpi_total_retrans,
          .window_bytes = std::uint64_t{info.tcpi_snd_cwnd} * info.tcpi_snd_mss,
          .round_trip_s = info.tcpi_rtt / kMicroseconds};
}

}  // namespace nameplate
