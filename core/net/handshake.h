// How a client and a peer find out that both hold the key, before either reads anything else of the other.
//
// Client -> peer  Opening    magic, version, the client's nonce
// peer -> client  Challenge  magic, version, whether a key is demanded, the peer's nonce
// client -> peer  Proof      HMAC(key, "client" | Opening | Challenge)
// peer -> client  Welcome    status, session, HMAC(key, "peer" | Opening | Challenge | Proof | status | session)
//
// Both nonces are in both proofs, so that none can be used a second time, and the labels differ, so that none can be
// sent back to whom it came from. From the same transcript comes the session's own key. Every later connection of a
// session opens with its number and a tag by that key, every frame on the first one ends in one. All messages have a
// fixed size; nothing a stranger says has a length in it.
#pragma once

#include <optional>
#include <vector>

#include "net/secret.h"

namespace nameplate {

inline constexpr std::uint16_t kNetVersion = 1;

inline constexpr std::size_t kOpeningBytes = 64;
inline constexpr std::size_t kChallengeBytes = 64;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::size_t kWelcomeBytes = 48;

using SessionKey = SecretBytes;

// What tells a session from the others of its peer, and proves that one belongs to it.
struct SessionSecret {
  std::uint64_t number = 0;
  SessionKey key{};

  // Of the session's connection or datagrams of this index.
  Mac tag(std::string_view purpose, std::uint32_t index) const;
};

// A connection of a session that exists already.
struct DataOpening {
  std::uint64_t session = 0;
  std::uint32_t index = 0;
  Mac tag{};
};

// The peer's half. It keeps no more than two fixed messages and never waits: it is fed what came in.
class PeerHandshake {
 public:
  PeerHandshake(const Key& key, std::uint64_t session) : key_(&key), session_(session) {}

  // How many bytes the next message has.
  std::size_t wanted_bytes() const { return challenge_.empty() ? kOpeningBytes : kProofBytes; }

  enum class State {
    going_on,       // send `answer`, then wait for the next message
    authenticated,  // send `answer`; `secret` is known
    data,           // it is a connection of a session: `opening`
    refused,        // send `answer`, which may be empty, and close
  };

  // Takes a message of exactly `wanted_bytes`.
  State take(ByteSpan message);

  const std::vector<std::uint8_t>& answer() const { return answer_; }
  const SessionSecret& secret() const { return secret_; }
  const DataOpening& opening() const { return data_; }

 private:
  State take_opening(ByteSpan message);
  State take_proof(ByteSpan message);

  const Key* key_;
  std::uint64_t session_;
  std::vector<std::uint8_t> opening_;
  std::vector<std::uint8_t> challenge_;
  std::vector<std::uint8_t> answer_;
  SessionSecret secret_;
  DataOpening data_;
};

// The client's half. Each throws ProbeError(failed) where the other is no peer, one of another version, one that has
// another key, or one that is full.
class ClientHandshake {
 public:
  explicit ClientHandshake(const Key& key);

  const std::vector<std::uint8_t>& opening() const { return opening_; }
  std::vector<std::uint8_t> prove(ByteSpan challenge);
  SessionSecret check_welcome(ByteSpan welcome) const;

 private:
  const Key* key_;
  std::vector<std::uint8_t> opening_;
  std::vector<std::uint8_t> challenge_;
  std::vector<std::uint8_t> proof_;
};

std::vector<std::uint8_t> encode(const DataOpening& opening);

// How datagrams come to a session, all of the same size, so that an answer is never more than what it answers:
//   client -> peer  hello, without a cookie
//   peer -> client  cookie, which depends on the address it is sent to
//   client -> peer  hello, with that cookie: now the address is known to be the client's
struct DatagramHello {
  std::uint64_t session = 0;
  std::uint32_t index = 0;
  Mac tag{};
  Mac cookie{};  // zeros: none yet
};

inline constexpr std::size_t kDatagramHelloBytes = 96;

std::vector<std::uint8_t> encode(const DatagramHello& hello);
std::optional<DatagramHello> decode_datagram_hello(ByteSpan message);

}  // namespace nameplate
