#include "net/pending_connections.h"

#include <gtest/gtest.h>

#include <fcntl.h>

namespace nameplate {

namespace {

const Key kNoKey;

class PendingConnectionsTest : public testing::Test {
 protected:
  // Returns the descriptor that identifies the new connection.
  int add(const std::string& host) {
    Descriptor socket(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int number = socket.number();
    pending_.add({.socket = std::move(socket), .latest_s = 0, .handshake = PeerHandshake(kNoKey, 1)},
                 resolve({host, 1}).front());
    return number;
  }
  int next_to_go() const { return pending_.oldest_of_busiest().socket.number(); }

  PendingConnections pending_{3};
};

TEST_F(PendingConnectionsTest, TheOldestOfTheBusiestNetworkIsRemoved) {
  add("192.0.2.1");
  const int second = add("198.51.100.1");
  const int third = add("198.51.100.200");
  EXPECT_EQ(next_to_go(), second);
  pending_.take(second);
  add("192.0.2.99");
  add("192.0.2.100");
  EXPECT_NE(next_to_go(), third);
  EXPECT_EQ(next_to_go(), pending_.oldest().socket.number());
}

TEST_F(PendingConnectionsTest, TheOldestIsRemovedIfNetworksHaveEquallyMany) {
  const int first = add("192.0.2.1");
  add("198.51.100.1");
  EXPECT_EQ(next_to_go(), first);
}

TEST_F(PendingConnectionsTest, ANetworkIsASlash24OfIpv4AndASlash64OfIpv6) {
  add("192.0.2.1");
  const int mapped = add("::ffff:203.0.113.1");
  add("203.0.113.2");
  EXPECT_EQ(next_to_go(), mapped);
  const int first = add("2001:db8:0:1::1");
  add("2001:db8:0:1:ffff::2");
  add("2001:db8:0:1::3");
  add("2001:db8:0:2::1");
  EXPECT_EQ(next_to_go(), first);
}

TEST_F(PendingConnectionsTest, ReportsWhenThereAreTooMany) {
  for (const char* host : {"192.0.2.1", "192.0.2.2", "192.0.2.3"}) add(host);
  EXPECT_FALSE(pending_.has_too_many());
  const int last = add("192.0.2.4");
  EXPECT_TRUE(pending_.has_too_many());
  pending_.take(last);
  EXPECT_FALSE(pending_.has_too_many());
  EXPECT_EQ(pending_.find(last), nullptr);
}

}  // namespace

}  // namespace nameplate
