#include "net/channel.h"

#include <poll.h>

#include "net/socket.h"
#include "net/wire.h"

namespace nameplate {

namespace {

constexpr std::size_t kLongestFrame = 1024;

}  // namespace

Mac Channel::tag(Side side, std::uint64_t number, ByteSpan frame) const {
  const auto counted = WireWriter().number(number).take();
  return authenticate(secret_.key, side == Side::client ? "client frame" : "peer frame", {counted, frame});
}

bool Channel::send(ByteSpan frame) {
  const auto message =
      WireWriter().number(static_cast<std::uint16_t>(frame.size())).raw(frame).raw(tag(side_, sent_++, frame)).take();
  return send_all(socket_.number(), message);
}

std::optional<std::vector<std::uint8_t>> Channel::receive() {
  std::array<std::uint8_t, sizeof(std::uint16_t)> length_bytes{};
  if (!receive_all(socket_.number(), length_bytes)) return std::nullopt;
  WireReader length(length_bytes);
  const auto bytes = length.number<std::uint16_t>(0, kLongestFrame);
  if (!length.is_complete()) return std::nullopt;
  std::vector<std::uint8_t> frame(bytes);
  Mac mac;
  if (!receive_all(socket_.number(), frame) || !receive_all(socket_.number(), mac)) return std::nullopt;
  const Side other = side_ == Side::client ? Side::peer : Side::client;
  if (!are_equal(mac, tag(other, received_++, frame))) return std::nullopt;
  return frame;
}

bool Channel::has_more() const {
  pollfd poll_entry{.fd = socket_.number(), .events = POLLIN};
  return poll(&poll_entry, 1, 0) > 0;
}

}  // namespace nameplate
