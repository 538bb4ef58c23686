#include "net/socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <sys/time.h>

#include <cmath>
#include <cstring>

#include "probe/error.h"

namespace nameplate {

namespace {

template <class T>
bool set(int socket, int level, int option, T value) {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

void set_window(int socket, int option, std::uint32_t bytes) {
  if (bytes > 0 && !set(socket, SOL_SOCKET, option, static_cast<int>(bytes))) {
    refuse(fmt::format("window={}: {}", bytes, std::strerror(errno)));
  }
}

void set_tcp_options(int socket, const TrafficRequest& request) {
  const auto segment = static_cast<int>(request.segment_bytes);
  if (segment > 0 && !set(socket, IPPROTO_TCP, TCP_MAXSEG, segment)) {
    refuse(fmt::format("mss={}: {}", segment, std::strerror(errno)));
  }
  const std::string& name = request.congestion;
  if (!name.empty() &&
      setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) != 0) {
    refuse(fmt::format("congestion={}: {}; see /proc/sys/net/ipv4/tcp_allowed_congestion_control for available ones",
                       name, std::strerror(errno)));
  }
}

}  // namespace

bool receive_all(int socket, std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool send_all(int socket, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

void set_time_limit(int socket, double seconds) {
  constexpr double kMicrosecondsPerSecond = 1e6;
  const double full_s = std::floor(seconds);
  const timeval limit{.tv_sec = static_cast<time_t>(full_s),
                      .tv_usec = static_cast<suseconds_t>((seconds - full_s) * kMicrosecondsPerSecond)};
  set(socket, SOL_SOCKET, SO_RCVTIMEO, limit);
  set(socket, SOL_SOCKET, SO_SNDTIMEO, limit);
}

void keep_alive(int socket) {
  constexpr int kIdle_s = 10;
  constexpr int kInterval_s = 5;
  constexpr int kTries = 4;
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdle_s);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kInterval_s);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kTries);
}

void send_at_once(int socket, bool on) { set(socket, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0); }

void set_options(int socket, const TrafficRequest& request) {
  set_window(socket, SO_SNDBUF, request.window_bytes);
  set_window(socket, SO_RCVBUF, request.window_bytes);
  if (request.protocol == Protocol::tcp) set_tcp_options(socket, request);
  if (request.send == SendMode::zerocopy && !set(socket, SOL_SOCKET, SO_ZEROCOPY, 1)) {
    refuse(fmt::format("mode=zerocopy: {}", std::strerror(errno)));
  }
  if (request.protocol == Protocol::udp && request.receive == ReceiveMode::gro &&
      !set(socket, IPPROTO_UDP, UDP_GRO, 1)) {
    refuse(fmt::format("receive=gro: {}", std::strerror(errno)));
  }
}

std::string why_unreachable(const Address& address) {
  const Descriptor socket(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Address any_port = address.with_port(0);
  std::string host = any_port.text();
  host.resize(host.rfind(':'));
  if (!socket.is_open() || bind(socket.number(), any_port.get(), any_port.length) != 0) {
    return fmt::format("cannot bind {}: {}", host, std::strerror(errno));
  }
  // Where no interface is up, some addresses can be bound, but not reached.
  const Address local = local_address(socket.number());
  if (connect(socket.number(), local.get(), local.length) == 0) return "";
  return fmt::format("cannot reach {}: {}", host, std::strerror(errno));
}

std::string loopback_host() {
  std::string reasons;
  for (const char* const host : {"127.0.0.1", "::1"}) {
    const std::string reason = why_unreachable(resolve({.host = host, .port = 0}).front());
    if (reason.empty()) return host;
    reasons += (reasons.empty() ? "" : ", ") + reason;
  }
  fail(fmt::format("this machine has no loopback address ({}); ip link set lo up adds them", reasons));
}

const char* last_error() {
  if (errno == 0) return "the connection was closed";
  return errno == EAGAIN ? "timed out" : std::strerror(errno);
}

}  // namespace nameplate
