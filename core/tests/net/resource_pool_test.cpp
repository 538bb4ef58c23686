#include "net/resource_pool.h"

#include <gtest/gtest.h>

namespace nameplate {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

TEST(Resources, AConnectionHasOneSocketOfTcpAndTwoOfUdp) {
  EXPECT_EQ(resources_of({.connections = 3}).sockets, 4U);
  EXPECT_EQ(resources_of({.protocol = Protocol::udp, .connections = 3}).sockets, 7U);
  EXPECT_EQ(resources_of({.traffic = Traffic::stream, .direction = Direction::both, .connections = 3}).sockets, 7U);
}

TEST(Resources, EveryBufferOfAConnectionCounts) {
  constexpr std::uint64_t kDatagram = 60000;
  const auto bytes = [](const TrafficRequest& request) { return resources_of(request).memory_bytes; };
  EXPECT_GE(bytes({.connections = 4, .block_bytes = 100 * kMiB}), 400 * kMiB);
  EXPECT_GE(bytes({.traffic = Traffic::stream, .connections = 4, .block_bytes = 100 * kMiB}), 800 * kMiB);
  TrafficRequest batches{.traffic = Traffic::stream, .protocol = Protocol::udp, .block_bytes = kDatagram};
  batches.send = SendMode::mmsg;
  EXPECT_GE(bytes(batches), 65 * kDatagram);
  batches.send = SendMode::zerocopy;
  EXPECT_GE(bytes(batches), 65 * kDatagram);
  const TrafficRequest segments{
      .traffic = Traffic::stream, .protocol = Protocol::udp, .receive = ReceiveMode::gro, .block_bytes = 16};
  EXPECT_GE(bytes(segments), 2 * 65536U);
}

TEST(Resources, AWindowCountsAsTheSystemGrantsIt) {
  TrafficRequest request{.protocol = Protocol::udp, .window_bytes = 4096};
  const std::uint64_t few = resources_of(request).memory_bytes;
  request.window_bytes = 100000;
  const std::uint64_t more = resources_of(request).memory_bytes;
  EXPECT_EQ(more - few, 4 * (100000U - 4096U));
  request.window_bytes = 1U << 30U;
  EXPECT_LT(resources_of(request).memory_bytes, 4 * (std::uint64_t{1} << 30U));
}

TEST(ResourcePool, TakenResourcesAreUnavailableUntilReturned) {
  ResourcePool pool({.sockets = 10, .memory_bytes = 100});
  EXPECT_EQ(pool.take({.sockets = 6, .memory_bytes = 60}), "");
  EXPECT_NE(pool.take({.sockets = 5, .memory_bytes = 1}), "");
  EXPECT_NE(pool.take({.sockets = 1, .memory_bytes = 41}).find("40 bytes of memory left"), std::string::npos);
  EXPECT_EQ(pool.take({.sockets = 4, .memory_bytes = 40}), "");
  pool.give_back({.sockets = 6, .memory_bytes = 60});
  EXPECT_EQ(pool.take({.sockets = 6, .memory_bytes = 60}), "");
}

}  // namespace

}  // namespace nameplate
