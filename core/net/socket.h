// Sockets: whole messages in and out of them, and what is set on them.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "machine/descriptor.h"
#include "net/address.h"
#include "net/traffic.h"

namespace nameplate {

// Reads until all is there. False at the other's end, at an error (errno), and where the socket's time limit passed.
bool receive_all(int socket, std::span<std::uint8_t> bytes);
bool send_all(int socket, ByteSpan bytes);

// As receive_all, asking again and again instead of sleeping, until `stop` says so.
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

// How long a call on this socket may wait, in either direction. 0: for ever.
void set_time_limit(int socket, double seconds);

// Notices within half a minute that the other's machine has gone without a word.
void keep_alive(int socket);

// Whether small messages leave at once, also those that wait already, or first for the acknowledgement of those before
// them (RFC 896).
void send_at_once(int socket, bool on);

// What a request asks of a socket of traffic. Throws ProbeError(skipped) where the system refuses it.
void set_options(int socket, const TrafficRequest& request);

// What stands in errno, in words: "timed out" for a socket whose time limit passed.
const char* last_error();

}  // namespace nameplate
