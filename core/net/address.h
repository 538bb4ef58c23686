// The address of a peer: IPv4 or IPv6, with a port.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nameplate {

// The peer's default port for TCP and UDP.
inline constexpr std::uint16_t kPeerPort = 7477;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  const sockaddr* get() const { return static_cast<const sockaddr*>(static_cast<const void*>(&storage)); }
  sockaddr* get() { return static_cast<sockaddr*>(static_cast<void*>(&storage)); }
  int family() const { return storage.ss_family; }
  std::uint16_t port() const;
  Address with_port(std::uint16_t port) const;
  // Returns the bytes of the host's address; for an IPv4-mapped IPv6 address (::ffff:1.2.3.4), the IPv4 ones.
  std::string host_bytes() const;
  // Returns the bytes of the network that one customer usually has: /24 for IPv4, /64 for IPv6.
  std::string network_bytes() const;
  bool is_loopback() const;
  // "192.0.2.1:7477", "[::1]:7477"
  std::string text() const;
};

struct HostAndPort {
  std::string host;
  std::uint16_t port = 0;
};

// Parses "host", "host:port", "[::1]:port" and "::1". Returns nothing for anything else.
std::optional<HostAndPort> parse_host_and_port(const std::string& text, std::uint16_t default_port);

// Returns the addresses of a name, in the order in which to try them. Throws ProbeError(failed) with the resolver's
// reason.
std::vector<Address> resolve(const HostAndPort& endpoint);

// Return the address that a socket is bound to, and the one it is connected to.
Address local_address(int socket);
Address peer_address(int socket);

}  // namespace nameplate
