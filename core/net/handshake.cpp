#include "net/handshake.h"

#include <fmt/format.h>

#include "net/key_file.h"
#include "net/wire.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'N', 'A', 'M', 'E', 'P', 'L', 'T', 'E'};

enum class Kind : std::uint8_t { control = 1, data = 2, challenge = 3, datagrams = 4 };
enum class Status : std::uint8_t { welcome = 1, wrong_key = 2 };

constexpr std::size_t kStatusPadding = 7;

WireWriter start_message(Kind kind) {
  WireWriter writer;
  writer.raw(kMagic).number(kNetVersion).number(static_cast<std::uint8_t>(kind));
  return writer;
}

// The start of every message, in every version.
struct MessageHeader {
  bool is_nameplate = false;
  std::uint16_t version = 0;
  Kind kind{};
};

MessageHeader read_header(WireReader& reader) {
  const auto magic = reader.raw<kMagic.size()>();
  MessageHeader result{.is_nameplate = magic == kMagic, .version = reader.number<std::uint16_t>()};
  result.kind = static_cast<Kind>(reader.number<std::uint8_t>());
  return result;
}

std::vector<std::uint8_t> status_bytes(Status status, std::uint64_t session) {
  return WireWriter().number(static_cast<std::uint8_t>(status)).pad_to(1 + kStatusPadding).number(session).take();
}

SessionKey derive(const Key& key, ByteSpan opening, ByteSpan challenge, ByteSpan proof, ByteSpan status) {
  Mac mac = authenticate(key.bytes(), "nameplate 1 session", {opening, challenge, proof, status});
  SessionKey result(mac.begin(), mac.end());
  zero_memory(mac.data(), mac.size());
  return result;
}

Mac prove_as_client(const Key& key, ByteSpan opening, ByteSpan challenge) {
  return authenticate(key.bytes(), "nameplate 1 client", {opening, challenge});
}

Mac prove_as_peer(const Key& key, ByteSpan opening, ByteSpan challenge, ByteSpan proof, ByteSpan status) {
  return authenticate(key.bytes(), "nameplate 1 peer", {opening, challenge, proof, status});
}

}  // namespace

Mac SessionSecret::tag(std::string_view purpose, std::uint32_t index) const {
  const auto bytes = WireWriter().number(number).number(index).take();
  return authenticate(key, purpose, {bytes});
}

PeerHandshake::State PeerHandshake::take(ByteSpan message) {
  answer_.clear();
  if (message.size() != required_bytes()) return State::refused;
  return challenge_.empty() ? take_opening(message) : take_proof(message);
}

PeerHandshake::State PeerHandshake::take_opening(ByteSpan message) {
  WireReader reader(message);
  const MessageHeader header = read_header(reader);
  if (!header.is_nameplate) return State::refused;
  if (header.kind == Kind::data && header.version == kNetVersion) {
    data_ = {
        .session = reader.number<std::uint64_t>(), .index = reader.number<std::uint32_t>(), .tag = reader.raw<32>()};
    return State::data;
  }
  if (header.kind != Kind::control) return State::refused;
  opening_.assign(message.begin(), message.end());
  // Also sent to a client of another version, which thereby learns this version.
  challenge_ = start_message(Kind::challenge)
                   .number(static_cast<std::uint8_t>(key_->is_given()))
                   .raw(random_nonce())
                   .pad_to(kChallengeBytes)
                   .take();
  answer_ = challenge_;
  return header.version == kNetVersion ? State::going_on : State::refused;
}

PeerHandshake::State PeerHandshake::take_proof(ByteSpan message) {
  Mac proof;
  std::ranges::copy(message, proof.begin());
  if (!are_equal(proof, prove_as_client(*key_, opening_, challenge_))) {
    answer_ = WireWriter().raw(status_bytes(Status::wrong_key, 0)).pad_to(kWelcomeBytes).take();
    return State::refused;
  }
  const auto status = status_bytes(Status::welcome, session_);
  answer_ = WireWriter().raw(status).raw(prove_as_peer(*key_, opening_, challenge_, proof, status)).take();
  secret_ = {session_, derive(*key_, opening_, challenge_, proof, status)};
  return State::authenticated;
}

ClientHandshake::ClientHandshake(const Key& key)
    : key_(&key), opening_(start_message(Kind::control).raw(random_nonce()).pad_to(kOpeningBytes).take()) {}

std::vector<std::uint8_t> ClientHandshake::prove(ByteSpan challenge) {
  WireReader reader(challenge);
  const MessageHeader header = read_header(reader);
  if (!header.is_nameplate || header.kind != Kind::challenge)
    fail(
        "the answer does not come from a nameplate "
        "peer");
  if (header.version != kNetVersion) {
    fail(
        fmt::format("the peer speaks version {} of nameplate's protocol, this program version {}; update the older one",
                    header.version, kNetVersion));
  }
  const bool demands_key = reader.number<std::uint8_t>() != 0;
  if (demands_key && !key_->is_given()) {
    fail(fmt::format("the peer requires a key; give its file with --key-file, or set {}", kKeyVariable));
  }
  if (!demands_key && key_->is_given())
    fail(
        "a key is given, but the peer has none, so it may not be the intended "
        "peer");
  challenge_.assign(challenge.begin(), challenge.end());
  const Mac proof = prove_as_client(*key_, opening_, challenge_);
  proof_.assign(proof.begin(), proof.end());
  return proof_;
}

SessionSecret ClientHandshake::check_welcome(ByteSpan welcome) const {
  WireReader reader(welcome);
  const auto status = static_cast<Status>(reader.number<std::uint8_t>());
  if (status == Status::wrong_key) fail("the peer has another key");
  reader.skip(kStatusPadding);
  const auto session = reader.number<std::uint64_t>();
  const auto peer_proof = reader.raw<32>();
  if (status != Status::welcome || !reader.is_complete()) fail("the answer does not come from a nameplate peer");
  const auto said = status_bytes(status, session);
  if (!are_equal(peer_proof, prove_as_peer(*key_, opening_, challenge_, proof_, said))) {
    fail("the peer did not prove that it has the key");
  }
  return {session, derive(*key_, opening_, challenge_, proof_, said)};
}

std::vector<std::uint8_t> encode(const DataOpening& opening) {
  return start_message(Kind::data)
      .number(opening.session)
      .number(opening.index)
      .raw(opening.tag)
      .pad_to(kOpeningBytes)
      .take();
}

std::vector<std::uint8_t> encode(const DatagramHello& hello) {
  return start_message(Kind::datagrams)
      .number(hello.session)
      .number(hello.index)
      .raw(hello.tag)
      .raw(hello.cookie)
      .pad_to(kDatagramHelloBytes)
      .take();
}

std::optional<DatagramHello> decode_datagram_hello(ByteSpan message) {
  if (message.size() != kDatagramHelloBytes) return std::nullopt;
  WireReader reader(message);
  const MessageHeader header = read_header(reader);
  if (!header.is_nameplate || header.version != kNetVersion || header.kind != Kind::datagrams) {
    return std::nullopt;
  }
  return DatagramHello{.session = reader.number<std::uint64_t>(),
                       .index = reader.number<std::uint32_t>(),
                       .tag = reader.raw<32>(),
                       .cookie = reader.raw<32>()};
}

}  // namespace nameplate
