#include "net/handshake.h"

#include <gtest/gtest.h>

#include "tests/net/complaint.h"

namespace nameplate {

namespace {

using Message = std::vector<std::uint8_t>;
using State = PeerHandshake::State;

const Key kKey = parse_key("000102030405060708090a0b0c0d0e0f", "");
const Key kOther = parse_key("ff0102030405060708090a0b0c0d0e0f", "");

TEST(Handshake, BothSidesWithTheKeyHaveTheSameSession) {
  ClientHandshake client(kKey);
  PeerHandshake peer(kKey, 7);
  ASSERT_EQ(peer.take(client.opening()), State::going_on);
  const Message proof = client.prove(peer.answer());
  ASSERT_EQ(peer.take(proof), State::authenticated);
  const SessionSecret secret = client.check_welcome(peer.answer());
  EXPECT_EQ(secret.number, 7U);
  EXPECT_EQ(secret.key, peer.secret().key);
  EXPECT_NE(secret.tag("data", 0), secret.tag("data", 1));
  EXPECT_NE(secret.tag("data", 0), secret.tag("datagrams", 0));
}

TEST(Handshake, ItAlsoWorksWithoutAKeyOnBothSides) {
  const Key none;
  ClientHandshake client(none);
  PeerHandshake peer(none, 1);
  ASSERT_EQ(peer.take(client.opening()), State::going_on);
  EXPECT_EQ(peer.take(client.prove(peer.answer())), State::authenticated);
}

TEST(Handshake, AnotherKeyIsRejectedWithTheReason) {
  ClientHandshake client(kOther);
  PeerHandshake peer(kKey, 1);
  peer.take(client.opening());
  ASSERT_EQ(peer.take(client.prove(peer.answer())), State::refused);
  EXPECT_EQ(complaint([&] { client.check_welcome(peer.answer()); }), "the peer has another key");
}

TEST(Handshake, AMissingKeyIsReportedBeforeTheProof) {
  const Key none;
  ClientHandshake without(none);
  PeerHandshake peer(kKey, 1);
  peer.take(without.opening());
  EXPECT_NE(complaint([&] { without.prove(peer.answer()); }).find("--key-file"), std::string::npos);
  ClientHandshake with(kKey);
  PeerHandshake open(none, 1);
  open.take(with.opening());
  EXPECT_NE(complaint([&] { with.prove(open.answer()); }).find("the peer has none"), std::string::npos);
}

TEST(Handshake, ARecordedHandshakeCannotBeReplayed) {
  ClientHandshake client(kKey);
  PeerHandshake peer(kKey, 1);
  peer.take(client.opening());
  const Message proof = client.prove(peer.answer());
  ASSERT_EQ(peer.take(proof), State::authenticated);
  PeerHandshake later(kKey, 2);
  later.take(client.opening());
  EXPECT_EQ(later.take(proof), State::refused);
}

TEST(Handshake, APeerWithoutTheKeyCannotReflectTheProof) {
  ClientHandshake client(kKey);
  PeerHandshake impostor(kKey, 1);
  impostor.take(client.opening());
  const Message proof = client.prove(impostor.answer());
  Message welcome(kWelcomeBytes, 0);
  welcome[0] = 1;
  std::copy(proof.begin(), proof.end(), welcome.begin() + 16);
  EXPECT_EQ(complaint([&] { client.check_welcome(welcome); }), "the peer did not prove that it has the key");
}

TEST(Handshake, EveryChangedByteOfTheWelcomeIsDetected) {
  ClientHandshake client(kKey);
  PeerHandshake peer(kKey, 7);
  peer.take(client.opening());
  peer.take(client.prove(peer.answer()));
  for (std::size_t i = 0; i < kWelcomeBytes; ++i) {
    if (i >= 1 && i < 8) continue;  // padding
    Message changed = peer.answer();
    changed[i] ^= 1U;
    EXPECT_NE(complaint([&] { client.check_welcome(changed); }), "") << i;
  }
}

TEST(Handshake, AnotherVersionGetsOurVersion) {
  ClientHandshake client(kKey);
  Message opening = client.opening();
  opening[8] = 2;
  PeerHandshake peer(kKey, 1);
  EXPECT_EQ(peer.take(opening), State::refused);
  Message challenge = peer.answer();
  ASSERT_EQ(challenge.size(), kChallengeBytes);
  challenge[8] = 2;
  EXPECT_NE(complaint([&] { client.prove(challenge); }).find("version 2"), std::string::npos);
}

TEST(Handshake, OtherProtocolsGetNoAnswer) {
  PeerHandshake peer(kKey, 1);
  Message http(kOpeningBytes, 'G');
  EXPECT_EQ(peer.take(http), State::refused);
  EXPECT_TRUE(peer.answer().empty());
  ClientHandshake client(kKey);
  EXPECT_NE(complaint([&] { client.prove(Message(kChallengeBytes, 'H')); }).find("does not come from a nameplate peer"),
            std::string::npos);
}

TEST(Handshake, AConnectionOfASessionNamesIt) {
  const SessionSecret secret{9, {}};
  PeerHandshake peer(kKey, 1);
  ASSERT_EQ(peer.take(encode(DataOpening{9, 3, secret.tag("data", 3)})), State::data);
  EXPECT_EQ(peer.opening().session, 9U);
  EXPECT_EQ(peer.opening().index, 3U);
  EXPECT_EQ(peer.opening().tag, secret.tag("data", 3));
}

TEST(Handshake, ADatagramsHelloIsReadAsItWasWritten) {
  DatagramHello hello{.session = 5, .index = 6};
  hello.tag[0] = 1;
  hello.cookie[31] = 2;
  const Message message = encode(hello);
  ASSERT_EQ(message.size(), kDatagramHelloBytes);
  const auto read = decode_datagram_hello(message);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->session, 5U);
  EXPECT_EQ(read->index, 6U);
  EXPECT_EQ(read->tag, hello.tag);
  EXPECT_EQ(read->cookie, hello.cookie);
  EXPECT_FALSE(decode_datagram_hello({message.data(), message.size() - 1}));
}

}  // namespace

}  // namespace nameplate
