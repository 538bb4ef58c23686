// A libFuzzer target (https://llvm.org/docs/LibFuzzer.html) for all that strangers and peers may send: the handshake,
// the hello of datagrams, and what is in the frames. The first byte of an input chooses which of them reads the rest.

#include <cstdlib>

#include "net/handshake.h"
#include "net/traffic.h"

namespace {

using namespace nameplate;

// What was read must be written again as it was: nothing is lost and nothing is understood in two ways.
template <class Message>
void check_same(const std::optional<Message>& read, ByteSpan bytes) {
  if (!read) return;
  const auto written = encode(*read);
  if (!std::equal(written.begin(), written.end(), bytes.begin(), bytes.end())) std::abort();
}

// As it comes from a socket: message after message, each of the size that is wanted.
void shake_hands(ByteSpan bytes) {
  static const Key key = parse_key("000102030405060708090a0b0c0d0e0f", "");
  PeerHandshake peer(key, 1);
  while (bytes.size() >= peer.wanted_bytes()) {
    const std::size_t length = peer.wanted_bytes();
    const auto state = peer.take(bytes.first(length));
    // Nobody guesses a proof.
    if (state == PeerHandshake::State::authenticated) std::abort();
    if (peer.answer().size() > kChallengeBytes) std::abort();
    if (state != PeerHandshake::State::going_on) return;
    bytes = bytes.subspan(length);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0: shake_hands(rest); break;
    case 1: check_same(decode_traffic_request(rest), rest); break;
    case 2: check_same(decode_notice(rest), rest); break;
    case 3: (void)decode_send_report(rest); break;
    case 4: (void)decode_receive_report(rest); break;
    default: (void)decode_datagram_hello(rest); break;
  }
  return 0;
}
