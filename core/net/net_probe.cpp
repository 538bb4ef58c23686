#include "net/net_probe.h"

#include <fmt/format.h>

#include "probe/error.h"

namespace nameplate {

Parameter protocol_parameter() { return choice("protocol", "transport protocol", {"tcp", "udp"}, "tcp"); }

Parameter connections_parameter() {
  return integer("connections", "concurrent connections, each with its own thread and socket on both sides", 1,
                 kMaxConnections, "1");
}

Parameter bind_parameter() { return automatic_text("bind", "local address to send from", "as routed"); }

Protocol parse_protocol(const Parameters& parameters) {
  return parameters.word("protocol") == "udp" ? Protocol::udp : Protocol::tcp;
}

void check_datagram(Protocol protocol, std::uint64_t bytes, const char* parameter) {
  if (protocol == Protocol::udp && bytes > kLargestDatagram) {
    refuse(fmt::format("{}={} protocol=udp: the maximum of a datagram is {} bytes; use that", parameter, bytes,
                       kLargestDatagram));
  }
}

std::vector<Fact> path_facts() {
  return {{"connect_s", "s", "time of the TCP connect, median of the connections"},
          {"interface_mtu_bytes", "B", "MTU of the interface to the peer; 0: not known"},
          {"path_mtu_bytes", "B", "path MTU that the system knows for the peer; 0: not known"},
          {"segment_bytes", "B", "TCP's maximum segment size; 0: not known"},
          {"link_bytes_per_s", "B/s", "speed that the interface reports; 0: none"},
          {"is_local", "", "1 if the traffic does not leave this machine"}};
}

Facts values_of(const NetworkPath& path, double connect_s) {
  constexpr double kBits = 8;
  return {{"connect_s", connect_s},
          {"interface_mtu_bytes", static_cast<double>(path.interface_mtu)},
          {"path_mtu_bytes", static_cast<double>(path.path_mtu)},
          {"segment_bytes", static_cast<double>(path.segment_bytes)},
          {"link_bytes_per_s", path.link_bits_per_s / kBits},
          {"is_local", path.is_local ? 1.0 : 0.0}};
}

std::map<std::string, std::string> labels_of(const NetworkPath& path, bool is_local_peer) {
  return {{"peer", is_local_peer ? "own" : "named"},
          {"interface", path.interface},
          {"route", path.route},
          {"congestion", path.congestion}};
}

}  // namespace nameplate
