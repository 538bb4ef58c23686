#include "net/address.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "probe/error.h"

namespace nameplate {

namespace {

constexpr std::size_t kIpv4Bytes = 4;
constexpr std::size_t kIpv4NetworkBytes = 3;
constexpr std::size_t kIpv6NetworkBytes = 8;
constexpr std::size_t kMappedPrefix = 12;  // ::ffff: (RFC 4291, 2.5.5.2)
constexpr std::uint8_t kLoopbackNet = 127;

// Reads the address as its family requires.
template <class T>
T read_as(const Address& address) {
  T result{};
  std::memcpy(&result, &address.storage, sizeof result);
  return result;
}

template <class T>
std::string bytes_of(const T& value) {
  std::string result(sizeof value, '\0');
  std::memcpy(result.data(), &value, sizeof value);
  return result;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || rest != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::uint16_t Address::port() const {
  return ntohs(family() == AF_INET6 ? read_as<sockaddr_in6>(*this).sin6_port : read_as<sockaddr_in>(*this).sin_port);
}

Address Address::with_port(std::uint16_t port) const {
  Address result = *this;
  // Both families have the port at the same offset (RFC 3493, 3.3).
  auto header = read_as<sockaddr_in>(*this);
  header.sin_port = htons(port);
  std::memcpy(&result.storage, &header, offsetof(sockaddr_in, sin_addr));
  return result;
}

std::string Address::host_bytes() const {
  if (family() != AF_INET6) return bytes_of(read_as<sockaddr_in>(*this).sin_addr);
  const in6_addr host = read_as<sockaddr_in6>(*this).sin6_addr;
  const std::string bytes = bytes_of(host);
  return IN6_IS_ADDR_V4MAPPED(&host) ? bytes.substr(kMappedPrefix) : bytes;
}

std::string Address::network_bytes() const {
  const std::string host = host_bytes();
  return host.substr(0, host.size() == kIpv4Bytes ? kIpv4NetworkBytes : kIpv6NetworkBytes);
}

bool Address::is_loopback() const {
  const std::string host = host_bytes();
  if (host.size() == kIpv4Bytes) return static_cast<std::uint8_t>(host[0]) == kLoopbackNet;
  const in6_addr address = read_as<sockaddr_in6>(*this).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&address);
}

std::string Address::text() const {
  std::array<char, NI_MAXHOST> host{};
  getnameinfo(get(), length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  if (family() == AF_INET6) return fmt::format("[{}]:{}", host.data(), port());
  return fmt::format("{}:{}", host.data(), port());
}

std::optional<HostAndPort> parse_host_and_port(const std::string& text, std::uint16_t default_port) {
  if (text.empty()) return std::nullopt;
  if (text.front() == '[') {
    const auto end = text.find(']');
    if (end == std::string::npos || end == 1) return std::nullopt;
    const std::string host = text.substr(1, end - 1);
    if (end + 1 == text.size()) return HostAndPort{host, default_port};
    const auto port = text[end + 1] == ':' ? parse_port(std::string_view(text).substr(end + 2)) : std::nullopt;
    return port ? std::optional(HostAndPort{host, *port}) : std::nullopt;
  }
  const auto colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos) {
    return HostAndPort{text, default_port};
  }
  const auto port = parse_port(std::string_view(text).substr(colon + 1));
  return port && colon > 0 ? std::optional(HostAndPort{text.substr(0, colon), *port}) : std::nullopt;
}

std::vector<Address> resolve(const HostAndPort& endpoint) {
  const addrinfo hints{.ai_flags = AI_ADDRCONFIG, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* entries = nullptr;
  // Even a host without external addresses has 127.0.0.1 and ::1.
  int error = getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &entries);
  if (error != 0) {
    const addrinfo any{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    error = getaddrinfo(endpoint.host.c_str(), nullptr, &any, &entries);
  }
  if (error != 0) fail(fmt::format("cannot resolve the host '{}': {}", endpoint.host, gai_strerror(error)));
  std::vector<Address> result;
  for (const addrinfo* entry = entries; entry != nullptr; entry = entry->ai_next) {
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    result.push_back(address.with_port(endpoint.port));
  }
  freeaddrinfo(entries);
  return result;
}

Address local_address(int socket) {
  Address result;
  getsockname(socket, result.get(), &result.length);
  return result;
}

Address peer_address(int socket) {
  Address result;
  getpeername(socket, result.get(), &result.length);
  return result;
}

}  // namespace nameplate
