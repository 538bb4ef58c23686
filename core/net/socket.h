// Sockets: whole messages, and socket options.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <string>

#include "machine/descriptor.h"
#include "net/address.h"
#include "net/traffic.h"

namespace nameplate {

// Reads until all is there. Returns false at the end of the stream, on an error (errno), and after the socket's time
// limit.
bool receive_all(int socket, std::span<std::uint8_t> bytes);
bool send_all(int socket, ByteSpan bytes);

// Like receive_all, but polls instead of sleeping, until `stop` returns true.
template <class Stop>
bool spin_receive(int socket, std::span<std::uint8_t> bytes, const Stop& stop) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR) || stop()) {
      return false;
    }
  }
  return true;
}

// Sets how long a call on this socket may wait, in either direction. 0: for ever.
void set_time_limit(int socket, double seconds);

// Detects within half a minute that the other machine is gone.
void keep_alive(int socket);

// Sets whether small messages are sent at once, including those already queued, or wait for the acknowledgement of
// earlier ones (RFC 896).
void send_at_once(int socket, bool on);

// Sets the options of a request on a traffic socket. Throws ProbeError(skipped) if the system rejects one.
void set_options(int socket, const TrafficRequest& request);

// Returns why no program on this machine can reach another one at the address, whatever the port; empty if it can.
std::string why_unreachable(const Address& address);

// Returns the first of 127.0.0.1 and ::1 that this machine has. Throws ProbeError(failed) with the reasons if it has
// neither.
std::string loopback_host();

// Returns errno in words: "timed out" for a socket whose time limit passed.
const char* last_error();

}  // namespace nameplate
