#include "net/traffic.h"

#include <algorithm>

#include "net/wire.h"

namespace nameplate {

namespace {

constexpr std::uint32_t kLargestWindow = 1U << 30U;
constexpr std::uint32_t kLargestSegment = 65535;
constexpr std::size_t kLongestCongestion = 15;  // TCP_CA_NAME_MAX minus its zero
constexpr std::size_t kLongestReason = 255;
constexpr double kLongest_s = 1e6;

template <class T>
std::uint8_t byte_of(T value) {
  return static_cast<std::uint8_t>(value);
}

template <class T>
T read_word(WireReader& reader, T last) {
  return static_cast<T>(reader.number<std::uint8_t>(0, byte_of(last)));
}

}  // namespace

std::vector<std::uint8_t> encode(const TrafficRequest& request) {
  return WireWriter()
      .number(byte_of(request.traffic))
      .number(byte_of(request.protocol))
      .number(byte_of(request.direction))
      .number(byte_of(request.wait))
      .number(byte_of(request.send))
      .number(byte_of(request.receive))
      .number(request.connections)
      .number(request.block_bytes)
      .number(request.window_bytes)
      .number(request.segment_bytes)
      .text(request.congestion)
      .real(request.interval_s)
      .take();
}

std::optional<TrafficRequest> decode_traffic_request(ByteSpan bytes) {
  WireReader reader(bytes);
  TrafficRequest request{.traffic = read_word(reader, Traffic::stream),
                         .protocol = read_word(reader, Protocol::udp),
                         .direction = read_word(reader, Direction::both),
                         .wait = read_word(reader, Wait::spin),
                         .send = read_word(reader, SendMode::zerocopy),
                         .receive = read_word(reader, ReceiveMode::gro),
                         .connections = reader.number<std::uint32_t>(1, kMaxConnections),
                         .block_bytes = reader.number<std::uint64_t>(1, kLargestBlock),
                         .window_bytes = reader.number<std::uint32_t>(0, kLargestWindow),
                         .segment_bytes = reader.number<std::uint32_t>(0, kLargestSegment),
                         .congestion = reader.text(kLongestCongestion),
                         .interval_s = reader.real(0, kLongest_s)};
  const bool fits = request.protocol == Protocol::tcp || request.block_bytes <= kLargestDatagram;
  const bool holds_header = request.protocol == Protocol::tcp || request.traffic == Traffic::pingpong ||
                            request.block_bytes >= kDatagramHeaderBytes;
  const bool is_batch =
      request.send == SendMode::mmsg || request.send == SendMode::gso || request.receive != ReceiveMode::plain;
  const bool is_possible = fits && holds_header && !(is_batch && request.protocol == Protocol::tcp);
  return reader.is_complete() && is_possible ? std::optional(request) : std::nullopt;
}

std::vector<std::uint8_t> encode(const SendReport& report) {
  return WireWriter()
      .number(report.sent)
      .number(report.refused)
      .number(report.retransmits)
      .number(report.window_bytes)
      .real(report.round_trip_s)
      .number(report.zerocopy_sends)
      .number(report.zerocopy_copied)
      .real(report.span_s)
      .pad_to(kReportBytes)
      .take();
}

std::vector<std::uint8_t> encode(const ReceiveReport& report) {
  return WireWriter()
      .number(report.blocks)
      .number(report.bytes)
      .number(report.duplicates)
      .number(report.reordered)
      .number(report.queue_drops)
      .real(report.jitter_s)
      .real(report.span_s)
      .number(std::uint64_t{report.is_content_right ? 1U : 0U})
      .pad_to(kReportBytes)
      .take();
}

std::optional<SendReport> decode_send_report(ByteSpan bytes) {
  WireReader reader(bytes);
  const SendReport report{.sent = reader.number<std::uint64_t>(),
                          .refused = reader.number<std::uint64_t>(),
                          .retransmits = reader.number<std::uint64_t>(),
                          .window_bytes = reader.number<std::uint64_t>(),
                          .round_trip_s = reader.real(0, kLongest_s),
                          .zerocopy_sends = reader.number<std::uint64_t>(),
                          .zerocopy_copied = reader.number<std::uint64_t>(),
                          .span_s = reader.real(0, kLongest_s)};
  return reader.is_good() ? std::optional(report) : std::nullopt;
}

std::optional<ReceiveReport> decode_receive_report(ByteSpan bytes) {
  WireReader reader(bytes);
  const ReceiveReport report{.blocks = reader.number<std::uint64_t>(),
                             .bytes = reader.number<std::uint64_t>(),
                             .duplicates = reader.number<std::uint64_t>(),
                             .reordered = reader.number<std::uint64_t>(),
                             .queue_drops = reader.number<std::uint64_t>(),
                             .jitter_s = reader.real(0, kLongest_s),
                             .span_s = reader.real(0, kLongest_s),
                             .is_content_right = reader.number<std::uint64_t>(0, 1) == 1};
  return reader.is_good() ? std::optional(report) : std::nullopt;
}

std::vector<std::uint8_t> encode(const Notice& notice) {
  return WireWriter().number(byte_of(notice.kind)).number(notice.other_sessions).text(notice.reason).take();
}

std::optional<Notice> decode_notice(ByteSpan bytes) {
  WireReader reader(bytes);
  Notice notice{.kind = read_word(reader, Notice::Kind::over),
                .other_sessions = reader.number<std::uint32_t>(),
                .reason = reader.text(kLongestReason)};
  // They are shown in a terminal, which other characters could control.
  const bool is_plain = std::ranges::all_of(notice.reason, [](char c) { return c >= ' ' && c <= '~'; });
  if (!is_plain) return std::nullopt;
  return reader.is_complete() ? std::optional(std::move(notice)) : std::nullopt;
}

}  // namespace nameplate
