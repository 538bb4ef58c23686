// Runs a real peer in a thread, with real sockets on loopback.

#include "net/peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "net/remote_session.h"
#include "net/round_trips.h"
#include "net/socket.h"
#include "net/stream_receiver.h"
#include "net/stream_sender.h"
#include "net/wire.h"
#include "tests/net/complaint.h"

namespace nameplate {

namespace {

using Message = std::vector<std::uint8_t>;

class RunningPeer {
 public:
  explicit RunningPeer(PeerOptions options = {})
      : peer_(free_port(std::move(options))), stop_(eventfd(0, EFD_CLOEXEC)) {
    thread_ = std::thread([this] { peer_.run(stop_.number()); });
  }
  RunningPeer(const RunningPeer&) = delete;
  RunningPeer& operator=(const RunningPeer&) = delete;
  RunningPeer(RunningPeer&&) = delete;
  RunningPeer& operator=(RunningPeer&&) = delete;
  ~RunningPeer() {
    eventfd_write(stop_.number(), 1);
    thread_.join();
  }

  HostAndPort endpoint() const { return {"127.0.0.1", peer_.addresses().front().port()}; }

  RemoteSession session(const TrafficRequest& request, const Key& key = {}) const {
    PeerAccess access;
    access.use(endpoint(), key);
    return {access, request, Placement{}, ""};
  }

  Descriptor stranger(int type = SOCK_STREAM) const {
    Descriptor socket(::socket(AF_INET, type, 0));
    const Address address = resolve(endpoint()).front();
    EXPECT_EQ(connect(socket.number(), address.get(), address.length), 0);
    set_time_limit(socket.number(), 1);
    return socket;
  }

 private:
  static PeerOptions free_port(PeerOptions options) {
    options.listen = {"127.0.0.1", 0};
    return options;
  }

  Peer peer_;
  Descriptor stop_;
  std::thread thread_;
};

bool is_closed(const Descriptor& socket) {
  std::uint8_t byte = 0;
  return recv(socket.number(), &byte, 1, 0) == 0 || errno == ECONNRESET;
}

class Trips : public testing::TestWithParam<std::tuple<Protocol, Wait, std::uint64_t>> {};

TEST_P(Trips, EveryMessageIsAnswered) {
  const auto [protocol, wait, bytes] = GetParam();
  const RunningPeer peer;
  const TrafficRequest request{.protocol = protocol, .wait = wait, .connections = 2, .block_bytes = bytes};
  RemoteSession session = peer.session(request);
  for (Connection& connection : session.connections()) {
    set_time_limit(connection.socket(), 5);
    RoundTrips trips(connection, request, 0, 5);
    trips.run(20);
    EXPECT_FALSE(trips.error()) << *trips.error();
    EXPECT_EQ(trips.done(), 20U);
    EXPECT_EQ(trips.lost(), 0U);
    EXPECT_TRUE(trips.is_content_right());
  }
}

INSTANTIATE_TEST_SUITE_P(Peer, Trips,
                         testing::Combine(testing::Values(Protocol::tcp, Protocol::udp),
                                          testing::Values(Wait::block, Wait::spin), testing::Values(1, 1000, 65507)));

struct StreamCase {
  Protocol protocol;
  SendMode send;
  ReceiveMode receive;
  Direction direction;
};

class Streams : public testing::TestWithParam<StreamCase> {};

TEST_P(Streams, EveryDatagramIsReceivedOrLost) {
  const auto [protocol, send, receive, direction] = GetParam();
  const RunningPeer peer;
  const TrafficRequest request{.traffic = Traffic::stream,
                               .protocol = protocol,
                               .direction = direction,
                               .send = send,
                               .receive = receive,
                               .block_bytes = 1000,
                               .window_bytes = 1 << 20};
  RemoteSession session = peer.session(request);
  const Connection& connection = session.connections().front();
  ConnectionState state;
  for (int sample = 0; sample < 3; ++sample) {
    SendReport sent;
    ReceiveReport received;
    if (direction == Direction::up) {
      StreamSender* sender = nullptr;
      static std::unique_ptr<StreamSender> retained;
      if (sample == 0) retained = std::make_unique<StreamSender>(connection, request, 0);
      sender = retained.get();
      ASSERT_TRUE(sender->send(100, state)) << sender->error();
      sent = sender->report();
      Message bytes(kReportBytes);
      ASSERT_TRUE(receive_all(connection.stream.number(), bytes));
      received = *decode_receive_report(bytes);
    } else {
      static std::unique_ptr<StreamReceiver> receiver;
      if (sample == 0) {
        set_time_limit(connection.socket(), 0.1);
        receiver = std::make_unique<StreamReceiver>(connection, request, Timeouts());
      }
      ASSERT_TRUE(send_all(connection.stream.number(), WireWriter().number(std::uint64_t{100}).take()));
      ASSERT_TRUE(receiver->receive(state));
      sent = receiver->sent();
      received = receiver->report();
    }
    EXPECT_EQ(sent.sent + sent.refused, 100U);
    EXPECT_LE(received.blocks, sent.sent);
    EXPECT_GT(received.blocks, 0U);
    if (protocol == Protocol::tcp) {
      EXPECT_EQ(received.blocks, 100U);
    }
    EXPECT_EQ(received.bytes, 1000 * received.blocks);
    EXPECT_EQ(received.duplicates, 0U);
    EXPECT_TRUE(received.is_content_right);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Peer, Streams,
    testing::Values(StreamCase{Protocol::tcp, SendMode::plain, ReceiveMode::plain, Direction::up},
                    StreamCase{Protocol::tcp, SendMode::plain, ReceiveMode::plain, Direction::down},
                    StreamCase{Protocol::tcp, SendMode::zerocopy, ReceiveMode::plain, Direction::up},
                    StreamCase{Protocol::udp, SendMode::plain, ReceiveMode::plain, Direction::up},
                    StreamCase{Protocol::udp, SendMode::plain, ReceiveMode::plain, Direction::down},
                    StreamCase{Protocol::udp, SendMode::mmsg, ReceiveMode::mmsg, Direction::up},
                    StreamCase{Protocol::udp, SendMode::mmsg, ReceiveMode::mmsg, Direction::down},
                    StreamCase{Protocol::udp, SendMode::gso, ReceiveMode::gro, Direction::up},
                    StreamCase{Protocol::udp, SendMode::gso, ReceiveMode::plain, Direction::up},
                    StreamCase{Protocol::udp, SendMode::gso, ReceiveMode::gro, Direction::down}));

TEST(Peer, WithoutItsKeyNobodyGetsASession) {
  PeerOptions options;
  options.key = Key::random();
  const RunningPeer peer(options);
  EXPECT_NE(complaint([&] { peer.session({}); }).find("requires a key"), std::string::npos);
  EXPECT_EQ(complaint([&] { peer.session({}, Key::random()); }), "the peer has another key");
  EXPECT_EQ(complaint([&] { peer.session({}, options.key); }), "");
}

TEST(Peer, StrangersAreDisconnectedAndDoNotBlockOthers) {
  const RunningPeer peer;
  std::vector<Descriptor> silent;
  for (int i = 0; i < 1200; ++i) silent.push_back(peer.stranger());  // more than the peer keeps
  const Descriptor rude = peer.stranger();
  send_all(rude.number(), Message(kOpeningBytes, 'x'));
  EXPECT_TRUE(is_closed(rude));
  EXPECT_EQ(complaint([&] { peer.session({}); }), "");
  EXPECT_TRUE(is_closed(silent.front())) << "the oldest goes first";
}

TEST(Peer, ASilentStrangerIsDisconnectedInTime) {
  const RunningPeer peer;
  const Descriptor silent = peer.stranger();
  set_time_limit(silent.number(), 10);
  EXPECT_TRUE(is_closed(silent));
}

TEST(Peer, AStrangersConnectionDoesNotJoinASession) {
  const RunningPeer peer;
  RemoteSession session = peer.session({});
  const Descriptor thief = peer.stranger();
  send_all(thief.number(), encode(DataOpening{1, 0, {}}));
  EXPECT_TRUE(is_closed(thief));
}

TEST(Peer, AStrangersDatagramGetsNoAnswer) {
  const RunningPeer peer;
  RemoteSession session = peer.session({.protocol = Protocol::udp});
  const Descriptor stranger = peer.stranger(SOCK_DGRAM);
  send_all(stranger.number(), encode(DatagramHello{.session = 1, .index = 0}));
  send_all(stranger.number(), Message(kDatagramHelloBytes, 'x'));
  send_all(stranger.number(), Message(1, 'x'));
  std::uint8_t byte = 0;
  EXPECT_LT(recv(stranger.number(), &byte, 1, 0), 0);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(Peer, AFullPeerSaysSo) {
  PeerOptions options;
  options.max_sessions = 1;
  const RunningPeer peer(options);
  const RemoteSession first = peer.session({});
  EXPECT_NE(complaint([&] { peer.session({}); }).find("maximum number of sessions"), std::string::npos);
}

TEST(Peer, ASessionThatHasUsedItsBytesEndsWithTheReason) {
  PeerOptions options;
  options.session.bytes = 1000;
  const RunningPeer peer(options);
  const TrafficRequest request{.block_bytes = 1000};
  RemoteSession session = peer.session(request);
  set_time_limit(session.connections().front().socket(), 5);
  RoundTrips trips(session.connections().front(), request, 0, 5);
  while (!trips.error()) trips.run(100);
  EXPECT_EQ(session.why_over(), "the peer allows 1000 bytes per session");
}

TEST(Peer, ASessionGetsNoMoreMemoryThanItsLimit) {
  const RunningPeer peer;
  const std::string why = complaint([&] { peer.session({.connections = 1000, .block_bytes = 1U << 30U}); });
  EXPECT_NE(why.find("bytes of memory"), std::string::npos);
}

TEST(Peer, AllSessionsTogetherStayWithinThePeersLimits) {
  constexpr std::uint64_t kMemory = std::uint64_t{1} << 30U;
  PeerOptions options;
  options.all_sessions = {.sockets = 10, .memory_bytes = kMemory};
  const RunningPeer peer(options);
  const TrafficRequest request{.connections = 5};
  const auto retry = [&] { return complaint([&] { peer.session(request); }); };
  {
    const RemoteSession first = peer.session(request);
    EXPECT_NE(retry().find("the peer has 4 sockets"), std::string::npos);
    EXPECT_EQ(complaint([&] { peer.session({.connections = 3}); }), "");
  }
  std::string why = retry();
  for (int wait = 0; wait < 100 && !why.empty(); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    why = retry();
  }
  EXPECT_EQ(why, "");
}

TEST(Peer, ARefusalByThePeersSystemIsReported) {
  const RunningPeer peer;
  // The peer must reject the algorithm, because the client's own system might have accepted it.
  TrafficRequest request{.traffic = Traffic::stream, .congestion = "nonesuch"};
  EXPECT_NE(complaint([&] { peer.session(request); }).find("nonesuch"), std::string::npos);
}

TEST(Peer, AClientThatLeavesFreesItsResources) {
  PeerOptions options;
  options.max_sessions = 1;
  const RunningPeer peer(options);
  for (int i = 0; i < 20; ++i) {
    const TrafficRequest request{.traffic = Traffic::stream, .protocol = Protocol::udp, .block_bytes = 1000};
    std::string why;
    // The session's slot becomes free when its threads have ended.
    for (int wait = 0; wait < 100; ++wait) {
      why = complaint([&] { peer.session(request); });
      if (why.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_EQ(why, "");
  }
}

TEST(Peer, ConcurrentSessionsAreCounted) {
  const RunningPeer peer;
  RemoteSession first = peer.session({});
  EXPECT_EQ(first.max_other_sessions(), 0U);
  const RemoteSession second = peer.session({});
  for (int wait = 0; wait < 100 && first.max_other_sessions() == 0; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(first.max_other_sessions(), 1U);
}

TEST(Peer, AKeyIsNeededBeyondLoopback) {
  PeerOptions options;
  options.listen = {"0.0.0.0", 0};
  EXPECT_NE(complaint([&] { const Peer peer(options); }).find("a key is needed"), std::string::npos);
}

TEST(Peer, APortInUseIsNamed) {
  const RunningPeer peer;
  PeerOptions options;
  options.listen = peer.endpoint();
  const std::string why = complaint([&] { const Peer second(options); });
  EXPECT_NE(why.find(std::to_string(peer.endpoint().port)), std::string::npos);
  EXPECT_NE(why.find("in use"), std::string::npos);
}

TEST(Peer, AMissingPeerIsReportedWithTheCommandToStartOne) {
  PeerAccess access;
  access.use({"127.0.0.1", 1}, Key());
  const std::string why = complaint([&] { const RemoteSession session(access, {}, Placement{}, ""); });
  EXPECT_NE(why.find("127.0.0.1:1: Connection refused"), std::string::npos);
  EXPECT_NE(why.find("nameplate serve"), std::string::npos);
}

}  // namespace

}  // namespace nameplate
