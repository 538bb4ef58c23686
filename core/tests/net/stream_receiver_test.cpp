#include "net/stream_receiver.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>

#include <array>
#include <thread>
#include <vector>

#include "net/address.h"
#include "net/datagram_count.h"
#include "net/socket.h"
#include "net/stream_sender.h"
#include "net/traffic.h"
#include "net/wire.h"

namespace nameplate {

namespace {

// Both ends of one connection, on loopback.
struct Ends {
  Connection sender;
  Connection receiver;

  Ends() {
    std::array<int, 2> streams{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, streams.data()), 0);
    sender.stream = Descriptor(streams[0]);
    receiver.stream = Descriptor(streams[1]);
    for (Connection* end : {&sender, &receiver}) {
      end->datagrams = Descriptor(::socket(AF_INET, SOCK_DGRAM, 0));
      const Address any = resolve({"127.0.0.1", 0}).front();
      EXPECT_EQ(bind(end->datagrams.number(), any.get(), any.length), 0);
    }
    connect_to(sender, receiver);
    connect_to(receiver, sender);
    set_time_limit(receiver.datagrams.number(), 0.1);
  }

 private:
  static void connect_to(const Connection& from, const Connection& to) {
    const Address address = local_address(to.datagrams.number());
    EXPECT_EQ(connect(from.datagrams.number(), address.get(), address.length), 0);
  }
};

class EmptyDatagrams : public testing::TestWithParam<ReceiveMode> {};

TEST_P(EmptyDatagrams, DoNotEndAStream) {
  const Ends ends;
  const TrafficRequest request{
      .traffic = Traffic::stream, .protocol = Protocol::udp, .receive = GetParam(), .block_bytes = 1000};
  const auto send_empty = [&ends] { EXPECT_EQ(::send(ends.sender.datagrams.number(), "", 0, 0), 0); };
  ConnectionState state;
  StreamSender sender(ends.sender, request, 0);
  StreamReceiver receiver(ends.receiver, request, {});
  for (int sample = 0; sample < 2; ++sample) {
    send_empty();
    ASSERT_TRUE(sender.send(10, state)) << sender.error();
    errno = 0;
    ASSERT_TRUE(receiver.receive(state));
    EXPECT_EQ(receiver.report().blocks, 10U);
    EXPECT_TRUE(receiver.report().is_content_right);
  }
}

INSTANTIATE_TEST_SUITE_P(StreamReceiver, EmptyDatagrams,
                         testing::Values(ReceiveMode::plain, ReceiveMode::mmsg, ReceiveMode::gro));

// Three end markers, as large as blocks, that arrive as one merged datagram after the last block.
TEST(StreamReceiver, KeepsTheLastBlockBesideMergedEndMarkers) {
  constexpr std::uint16_t kBlock = 1000;
  const Ends ends;
  const int on = 1;
  ASSERT_EQ(setsockopt(ends.receiver.datagrams.number(), IPPROTO_UDP, UDP_GRO, &on, sizeof on), 0);
  const TrafficRequest request{
      .traffic = Traffic::stream, .protocol = Protocol::udp, .receive = ReceiveMode::gro, .block_bytes = kBlock};
  const int socket = ends.sender.datagrams.number();
  std::vector<std::uint8_t> block = block_content(ends.sender.seed, kBlock);
  DatagramHeader{}.write(block.data());
  ASSERT_EQ(::send(socket, block.data(), block.size(), 0), kBlock);
  const int segment = kBlock;
  ASSERT_EQ(setsockopt(socket, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment), 0);
  std::vector<std::uint8_t> markers(std::size_t{3} * kBlock);
  for (std::size_t offset = 0; offset < markers.size(); offset += kBlock) {
    DatagramHeader{.is_end = 1}.write(markers.data() + offset);
  }
  ASSERT_EQ(::send(socket, markers.data(), markers.size(), 0), static_cast<ssize_t>(markers.size()));
  ASSERT_TRUE(send_all(ends.sender.stream.number(), encode(SendReport{.sent = 1})));
  StreamReceiver receiver(ends.receiver, request, {});
  ConnectionState state;
  ASSERT_TRUE(receiver.receive(state));
  EXPECT_EQ(receiver.report().blocks, 1U);
  EXPECT_TRUE(receiver.report().is_content_right);
}

// The first half of the last block is wrong, and is received before the second half is sent.
TEST(StreamReceiver, ChecksTheWholeLastBlock) {
  constexpr std::uint64_t kBlock = 1000;
  const Ends ends;
  const TrafficRequest request{.traffic = Traffic::stream, .protocol = Protocol::tcp, .block_bytes = kBlock};
  const std::jthread sending([&ends] {
    const int socket = ends.sender.stream.number();
    std::vector<std::uint8_t> block = block_content(ends.sender.seed, kBlock);
    block.front() ^= 1U;
    const ByteSpan full_block(block);
    EXPECT_TRUE(send_all(socket, WireWriter().number(kBlock).take()));
    EXPECT_TRUE(send_all(socket, full_block.first(kBlock / 2)));
    for (int unread = 1; unread > 0 && ioctl(ends.receiver.stream.number(), FIONREAD, &unread) == 0;) {
      std::this_thread::yield();
    }
    EXPECT_TRUE(send_all(socket, full_block.subspan(kBlock / 2)));
    EXPECT_TRUE(send_all(socket, encode(SendReport{.sent = 1})));
    shutdown(socket, SHUT_WR);  // so that the receiver never waits for more
  });
  StreamReceiver receiver(ends.receiver, request, {});
  ConnectionState state;
  ASSERT_TRUE(receiver.receive(state));
  EXPECT_EQ(receiver.report().bytes, kBlock);
  EXPECT_FALSE(receiver.report().is_content_right);
}

TEST(StreamReceiver, EndsWhenItsSocketIsShutDown) {
  const Ends ends;
  const TrafficRequest request{.traffic = Traffic::stream, .protocol = Protocol::udp, .block_bytes = 1000};
  StreamReceiver receiver(ends.receiver, request, {});
  ConnectionState state;
  state.stopped = true;
  shutdown(ends.receiver.datagrams.number(), SHUT_RDWR);
  EXPECT_FALSE(receiver.receive(state));
}

}  // namespace

}  // namespace nameplate
