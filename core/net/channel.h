// A session's first connection after the handshake: frames of at most 1 KiB, each with its number and the tag of its
// sender, so that none can be changed, left out, repeated or sent back.
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

  // False where the other is gone.
  bool send(ByteSpan frame);
  // Nothing where the other is gone or silent for longer than the socket's time limit, or where the frame is not his.
  std::optional<std::vector<std::uint8_t>> receive();
  // Whether something has come, without waiting.
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
