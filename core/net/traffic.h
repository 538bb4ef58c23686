// The request of a client to its peer, and the reports that both exchange. Everything is read within bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/secret.h"

namespace nameplate {

inline constexpr std::uint64_t kLargestDatagram = 65507;  // 65,535 minus the headers of IPv4 and UDP
inline constexpr std::uint64_t kLargestBlock = 1U << 30U;
inline constexpr std::uint32_t kMaxConnections = 1024;
inline constexpr std::uint64_t kDatagramHeaderBytes = 16;
inline constexpr unsigned kMaxSegments = 64;  // of one buffer that is split, as every kernel accepts

enum class Traffic : std::uint8_t { pingpong, stream };
enum class Protocol : std::uint8_t { tcp, udp };
enum class Direction : std::uint8_t { up, down, both };  // up: from the client to the peer
enum class Wait : std::uint8_t { block, spin };
enum class SendMode : std::uint8_t { plain, mmsg, gso, zerocopy };
enum class ReceiveMode : std::uint8_t { plain, mmsg, gro };

struct TrafficRequest {
  Traffic traffic = Traffic::pingpong;
  Protocol protocol = Protocol::tcp;
  Direction direction = Direction::up;
  Wait wait = Wait::block;
  SendMode send = SendMode::plain;
  ReceiveMode receive = ReceiveMode::plain;
  std::uint32_t connections = 1;    // in each direction
  std::uint64_t block_bytes = 1;    // of a message, of one send call, or of a datagram
  std::uint32_t window_bytes = 0;   // of the sockets' buffers; 0: the system's default
  std::uint32_t segment_bytes = 0;  // TCP's maximum segment size; 0: the system's default
  std::string congestion = {};      // TCP's congestion control; empty: the system's default
  double interval_s = 0;            // between the datagrams of a connection; 0: as fast as possible

  std::uint32_t all_connections() const { return direction == Direction::both ? 2 * connections : connections; }
  // Returns whether the connection with this index goes from the client to the peer.
  bool goes_up(std::uint32_t index) const {
    return direction == Direction::up || (direction == Direction::both && index < connections);
  }
};

std::vector<std::uint8_t> encode(const TrafficRequest& request);
// Returns nothing if a value is out of bounds.
std::optional<TrafficRequest> decode_traffic_request(ByteSpan bytes);

// The sender's report on one sample of a stream.
struct SendReport {
  std::uint64_t sent = 0;          // blocks, or datagrams, that the system accepted
  std::uint64_t refused = 0;       // datagrams that the system rejected because its own queues were full
  std::uint64_t retransmits = 0;   // TCP segments
  std::uint64_t window_bytes = 0;  // TCP's congestion window at the end
  double round_trip_s = 0;         // smoothed by TCP
  std::uint64_t zerocopy_sends = 0;
  std::uint64_t zerocopy_copied = 0;  // those of them that the kernel copied nevertheless
  double span_s = 0;
};

// The receiver's report.
struct ReceiveReport {
  std::uint64_t blocks = 0;  // each counted once
  std::uint64_t bytes = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t reordered = 0;
  std::uint64_t queue_drops = 0;  // lost in the receiving socket's queue
  double jitter_s = 0;            // RFC 3550, section 6.4.1
  double span_s = 0;              // from the first arrival to the last
  bool is_content_right = false;
};

inline constexpr std::size_t kReportBytes = 72;

std::vector<std::uint8_t> encode(const SendReport& report);
std::vector<std::uint8_t> encode(const ReceiveReport& report);
// Returns nothing if the values are impossible.
std::optional<SendReport> decode_send_report(ByteSpan bytes);
std::optional<ReceiveReport> decode_receive_report(ByteSpan bytes);

// A peer's message on a session's first connection.
struct Notice {
  enum class Kind : std::uint8_t {
    ready,           // the request is accepted
    refused,         // the request is rejected, for `reason`
    other_sessions,  // the number of other sessions has changed
    over,            // the peer ends the session, for `reason`
  };
  Kind kind = Kind::ready;
  std::uint32_t other_sessions = 0;
  std::string reason = {};
};

std::vector<std::uint8_t> encode(const Notice& notice);
std::optional<Notice> decode_notice(ByteSpan bytes);

}  // namespace nameplate
