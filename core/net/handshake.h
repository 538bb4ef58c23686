// Proves to a client and a peer that both hold the key, before either reads anything else from the other.
//
// Client -> peer  Opening    magic, version, the client's nonce
// peer -> client  Challenge  magic, version, whether a key is required, the peer's nonce
// client -> peer  Proof      HMAC(key, "client" | Opening | Challenge)
// peer -> client  Welcome    status, session, HMAC(key, "peer" | Opening | Challenge | Proof | status | session)
//
// Both nonces are in both proofs, so that none can be replayed, and the labels differ, so that none can be reflected.
// The session's own key is derived from the same transcript. Every later connection of a session starts with its number
// and a tag by that key, and every frame on the first connection ends with a tag. All messages have a fixed size;
// nothing that a stranger sends contains a length.
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

// Identifies a session among those of its peer, and proves membership in it.
struct SessionSecret {
  std::uint64_t number = 0;
  SessionKey key{};

  // Returns the tag of the session's connection or datagrams with this index.
  Mac tag(std::string_view purpose, std::uint32_t index) const;
};

// The opening of a connection of an existing session.
struct DataOpening {
  std::uint64_t session = 0;
  std::uint32_t index = 0;
  Mac tag{};
};

// The peer's half. It stores at most two messages of fixed size and never waits: the caller feeds it with input.
class PeerHandshake {
 public:
  PeerHandshake(const Key& key, std::uint64_t session) : key_(&key), session_(session) {}

  // Returns the size of the next message.
  std::size_t required_bytes() const { return challenge_.empty() ? kOpeningBytes : kProofBytes; }

  enum class State {
    going_on,       // send `answer`, then wait for the next message
    authenticated,  // send `answer`; `secret` is known
    data,           // a connection of a session: `opening`
    refused,        // send `answer`, which may be empty, and close
  };

  // Takes a message of exactly `required_bytes`.
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

// The client's half. Each function throws ProbeError(failed) if the other side is not a peer, has another version or
// another key, or is at its limits.
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

// Registers the address of a session's datagrams. All messages have the same size, so that answers amplify nothing:
//   client -> peer  hello, without a cookie
//   peer -> client  cookie, which depends on the client's address
//   client -> peer  hello, with that cookie: which proves that the address is the client's
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
