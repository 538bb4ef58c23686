#include "net/address.h"

#include <gtest/gtest.h>

#include "probe/error.h"

namespace nameplate {

namespace {

void expect_endpoint(const std::string& text, const std::string& host, std::uint16_t port) {
  const auto endpoint = parse_host_and_port(text, 9);
  ASSERT_TRUE(endpoint) << text;
  EXPECT_EQ(endpoint->host, host) << text;
  EXPECT_EQ(endpoint->port, port) << text;
}

TEST(Address, AnEndpointIsAHostWithOrWithoutAPort) {
  expect_endpoint("node7", "node7", 9);
  expect_endpoint("node7:80", "node7", 80);
  expect_endpoint("192.0.2.1:65535", "192.0.2.1", 65535);
  expect_endpoint("::1", "::1", 9);
  expect_endpoint("[::1]", "::1", 9);
  expect_endpoint("[2001:db8::1]:80", "2001:db8::1", 80);
  for (const char* text : {"", "node7:", "node7:0", "node7:65536", "node7:x", ":80", "[::1", "[]:80", "[::1]80"}) {
    EXPECT_FALSE(parse_host_and_port(text, 9)) << text;
  }
}

TEST(Address, AnAddressIsShownWithItsPort) {
  EXPECT_EQ(resolve({"127.0.0.1", 80}).front().text(), "127.0.0.1:80");
  EXPECT_EQ(resolve({"::1", 80}).front().text(), "[::1]:80");
}

TEST(Address, OnlyThisMachineIsLoopback) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(resolve({host, 1}).front().is_loopback()) << host;
  }
  for (const char* host : {"192.0.2.1", "0.0.0.0", "::", "2001:db8::1", "::ffff:192.0.2.1"}) {
    EXPECT_FALSE(resolve({host, 1}).front().is_loopback()) << host;
  }
}

TEST(Address, TheSameHostIsTheSameInBothFamilies) {
  EXPECT_EQ(resolve({"192.0.2.1", 1}).front().host_bytes(), resolve({"::ffff:192.0.2.1", 2}).front().host_bytes());
  EXPECT_NE(resolve({"192.0.2.1", 1}).front().host_bytes(), resolve({"192.0.2.2", 1}).front().host_bytes());
}

TEST(Address, AnUnknownHostNameIsReported) {
  try {
    resolve({"no-such-host.invalid", 1});
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-host.invalid"), std::string::npos);
  }
}

}  // namespace

}  // namespace nameplate
