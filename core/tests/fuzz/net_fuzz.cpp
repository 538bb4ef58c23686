// A libFuzzer target (https://llvm.org/docs/LibFuzzer.html) for everything that strangers and peers may send: the
// handshake, the hello of datagrams, and the content of frames. The first byte of an input selects the reader of the
// rest.

#include <cstdlib>

#include "net/handshake.h"
#include "net/traffic.h"

namespace {

using namespace nameplate;

// Checks that encoding a decoded message gives the same bytes, so that no message has two encodings.
template <class Message>
void check_same(const std::optional<Message>& read, ByteSpan bytes) {
  if (!read) return;
  const auto written = encode(*read);
  if (!std::equal(written.begin(), written.end(), bytes.begin(), bytes.end())) std::abort();
}

// Feeds the handshake as a socket does: message by message, each of the size that the handshake expects.
void shake_hands(ByteSpan bytes) {
  static const Key key = parse_key("000102030405060708090a0b0c0d0e0f", "");
  PeerHandshake peer(key, 1);
  while (bytes.size() >= peer.required_bytes()) {
    const std::size_t length = peer.required_bytes();
    const auto state = peer.take(bytes.first(length));
    // No input can guess a proof.
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
