#include "net/traffic.h"

#include <gtest/gtest.h>

namespace nameplate {

namespace {

TEST(Traffic, ARequestIsReadAsItWasWritten) {
  const TrafficRequest request{.traffic = Traffic::stream,
                               .protocol = Protocol::udp,
                               .direction = Direction::both,
                               .wait = Wait::spin,
                               .send = SendMode::gso,
                               .receive = ReceiveMode::gro,
                               .connections = 3,
                               .block_bytes = 1400,
                               .window_bytes = 1 << 20,
                               .segment_bytes = 500,
                               .congestion = "cubic",
                               .interval_s = 0.25};
  const auto read = decode_traffic_request(encode(request));
  ASSERT_TRUE(read);
  EXPECT_EQ(encode(*read), encode(request));
  EXPECT_EQ(read->congestion, "cubic");
  EXPECT_EQ(read->all_connections(), 6U);
  EXPECT_TRUE(read->goes_up(2));
  EXPECT_FALSE(read->goes_up(3));
}

void expect_refused(const TrafficRequest& request, const char* why) {
  EXPECT_FALSE(decode_traffic_request(encode(request))) << why;
}

TEST(Traffic, ValuesOutOfRangeAreRejected) {
  expect_refused({.connections = 0}, "no connection");
  expect_refused({.connections = kMaxConnections + 1}, "too many connections");
  expect_refused({.block_bytes = 0}, "empty messages");
  expect_refused({.block_bytes = kLargestBlock + 1}, "a block that takes all memory");
  expect_refused({.protocol = Protocol::udp, .block_bytes = kLargestDatagram + 1}, "no datagram is so large");
  expect_refused({.traffic = Traffic::stream, .protocol = Protocol::udp, .block_bytes = 8}, "no room for a header");
  expect_refused({.send = SendMode::gso}, "TCP has no segments to give");
  expect_refused({.congestion = std::string(16, 'c')}, "longer than the system takes");
  expect_refused({.interval_s = -1}, "before it began");
}

TEST(Traffic, EveryTruncatedOrExtendedMessageIsRejected) {
  auto message = encode(TrafficRequest{.congestion = "reno"});
  for (std::size_t length = 0; length < message.size(); ++length) {
    EXPECT_FALSE(decode_traffic_request({message.data(), length})) << length;
  }
  message.push_back(0);
  EXPECT_FALSE(decode_traffic_request(message));
}

TEST(Traffic, ReportsAndNoticesAreReadAsTheyWereWritten) {
  const SendReport sent{.sent = 1,
                        .refused = 2,
                        .retransmits = 3,
                        .window_bytes = 4,
                        .round_trip_s = 0.5,
                        .zerocopy_sends = 6,
                        .zerocopy_copied = 7,
                        .span_s = 8};
  ASSERT_EQ(encode(sent).size(), kReportBytes);
  EXPECT_EQ(encode(*decode_send_report(encode(sent))), encode(sent));
  const ReceiveReport received{.blocks = 1,
                               .bytes = 2,
                               .duplicates = 3,
                               .reordered = 4,
                               .queue_drops = 5,
                               .jitter_s = 0.5,
                               .span_s = 7,
                               .is_content_right = true};
  ASSERT_EQ(encode(received).size(), kReportBytes);
  EXPECT_EQ(encode(*decode_receive_report(encode(received))), encode(received));
  const auto notice = decode_notice(encode(Notice{.kind = Notice::Kind::over, .other_sessions = 2, .reason = "why"}));
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->kind, Notice::Kind::over);
  EXPECT_EQ(notice->other_sessions, 2U);
  EXPECT_EQ(notice->reason, "why");
}

TEST(Traffic, TextWithControlCharactersIsRejected) { EXPECT_FALSE(decode_notice(encode(Notice{.reason = "\x1b[2J"}))); }

TEST(Traffic, AReportOfNaNIsRejected) {
  auto bytes = encode(SendReport{.span_s = 1});
  std::fill(bytes.begin() + 56, bytes.begin() + 64, 0xFF);  // not a number
  EXPECT_FALSE(decode_send_report(bytes));
}

}  // namespace

}  // namespace nameplate
