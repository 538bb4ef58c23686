// The first connection of a session after the handshake: frames of at most 1 KiB, each with its number and its sender's
// tag, so that none can be changed, dropped, repeated or reflected.
#pragma once

#include <optional>
#include <vector>

#include "machine/descriptor.h"
#include "net/handshake.h"

namespace nameplate {

class Channel {
 public:
  enum class Side { client, peer };

  Channel(Descriptor socket, SessionSecret secret, Side side)
      : socket_(std::move(socket)), secret_(std::move(secret)), side_(side) {}

  int socket() const { return socket_.number(); }
  const SessionSecret& secret() const { return secret_; }

  // Returns false if the other side is gone.
  bool send(ByteSpan frame);
  // Returns nothing if the other side is gone, silent for longer than the socket's time limit, or did not send the
  // frame.
  std::optional<std::vector<std::uint8_t>> receive();
  // Returns whether data are available, without waiting.
  bool has_more() const;

 private:
  Mac tag(Side side, std::uint64_t number, ByteSpan frame) const;

  Descriptor socket_;
  SessionSecret secret_;
  Side side_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace nameplate
