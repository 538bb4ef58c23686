// Where a peer is: an address of IPv4 or IPv6 with its port.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nameplate {

// Where a peer listens unless it is told otherwise, TCP and UDP.
inline constexpr std::uint16_t kPeerPort = 7477;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  const sockaddr* get() const { return static_cast<const sockaddr*>(static_cast<const void*>(&storage)); }
  sockaddr* get() { return static_cast<sockaddr*>(static_cast<void*>(&storage)); }
  int family() const { return storage.ss_family; }
  std::uint16_t port() const;
  Address with_port(std::uint16_t port) const;
  // The bytes of the host's address alone; of an IPv4 address in IPv6 clothes (::ffff:1.2.3.4) the IPv4 ones.
  std::string host_bytes() const;
  // The bytes of the network that one customer usually has: /24 of IPv4, /64 of IPv6.
  std::string network_bytes() const;
  bool is_loopback() const;
  // "192.0.2.1:7477", "[::1]:7477"
  std::string text() const;
};

struct HostAndPort {
  std::string host;
  std::uint16_t port = 0;
};

// Of "host", "host:port", "[::1]:port" and "::1". Nothing for what is none of these.
std::optional<HostAndPort> parse_host_and_port(const std::string& text, std::uint16_t default_port);

// The addresses of a name, in the order in which they should be tried. Throws ProbeError(failed) saying why it has
// none.
std::vector<Address> resolve(const HostAndPort& place);

// Where a socket is bound, and whom it is connected to.
Address own_address(int socket);
Address peer_address(int socket);

}  // namespace nameplate
