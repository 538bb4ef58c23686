#include "net/remote_session.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "measure/clock.h"
#include "net/socket.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr double kConnect_s = 5;
// No answer is expected after this time.
constexpr double kSilence_s = 10;
constexpr int kHelloInterval_ms = 50;
constexpr unsigned kMaxHellos = 60;

Descriptor bound(const Address& peer, int type, const std::optional<Address>& bind_to) {
  Descriptor socket(::socket(peer.family(), type | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) fail(fmt::format("cannot create a socket: {}", std::strerror(errno)));
  if (bind_to && bind(socket.number(), bind_to->get(), bind_to->length) != 0) {
    fail(fmt::format("bind={}: {}", bind_to->text(), std::strerror(errno)));
  }
  return socket;
}

}  // namespace

HostAndPort PeerAccess::endpoint(const Placement& placement) {
  if (endpoint_) return *endpoint_;
  if (local_peer_ && local_peer_->has_ended()) local_peer_.reset();
  if (!local_peer_) local_peer_ = std::make_unique<LocalPeer>(placement);
  return local_peer_->endpoint();
}

RemoteSession::RemoteSession(PeerAccess& access, const TrafficRequest& request, const Placement& placement,
                             const std::string& bind_to)
    : request_(request), endpoint_(access.endpoint(placement)), is_local_(access.is_local()) {
  if (!bind_to.empty()) bind_to_ = resolve({bind_to, 0}).front();
  if (!access.why_absent().empty()) fail(access.why_absent());
  try {
    open_channel(access.key());
  } catch (const ProbeError& error) {
    access.note_absence(error.what());
    throw;
  }
  ask(request);
  connections_.resize(request.all_connections());
  for (std::uint32_t i = 0; i < connections_.size(); ++i) open_connection(i);
  for (std::uint32_t i = 0; i < connections_.size(); ++i) await_ready(i);
}

// Connects to the first of its addresses that answers. Segment size and window are negotiated during connect.
Descriptor RemoteSession::connect_to_peer(bool is_traffic) {
  std::string tried;
  const auto addresses = peer_.port() == 0 ? resolve(endpoint_) : std::vector{peer_};
  for (const Address& address : addresses) {
    if (bind_to_ && bind_to_->family() != address.family()) continue;
    Descriptor socket = bound(address, SOCK_STREAM, bind_to_);
    set_time_limit(socket.number(), kConnect_s);
    if (is_traffic) set_options(socket.number(), request_);
    const double start_s = now_s();
    if (connect(socket.number(), address.get(), address.length) == 0) {
      connect_s_ = now_s() - start_s;
      peer_ = address;
      return socket;
    }
    if (errno == EINPROGRESS) errno = EAGAIN;  // the time limit, as connect(2) reports it
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", address.text(), last_error());
  }
  fail(fmt::format("no peer answers at {}; run nameplate serve --listen ADDRESS --key-file FILE on that machine",
                   tried.empty() ? fmt::format("{}, with the address family of bind=", endpoint_.host) : tried));
}

void RemoteSession::open_channel(const Key& key) {
  Descriptor socket = connect_to_peer(false);
  ClientHandshake handshake(key);
  const auto expect = [&socket, this](std::span<std::uint8_t> bytes) {
    if (!receive_all(socket.number(), bytes)) {
      fail(fmt::format("the answer at {} does not come from a nameplate peer, or the peer is overloaded: {}",
                       peer_.text(), last_error()));
    }
  };
  const double start_s = now_s();
  if (!send_all(socket.number(), handshake.opening())) fail(fmt::format("{}: {}", peer_.text(), last_error()));
  std::array<std::uint8_t, kChallengeBytes> challenge{};
  expect(challenge);
  round_trip_s_ = std::max(connect_s_, now_s() - start_s);
  const auto proof = handshake.prove(challenge);
  if (!send_all(socket.number(), proof)) fail(fmt::format("{}: {}", peer_.text(), last_error()));
  std::array<std::uint8_t, kWelcomeBytes> welcome{};
  expect(welcome);
  channel_.emplace(std::move(socket), handshake.check_welcome(welcome), Channel::Side::client);
}

void RemoteSession::ask(const TrafficRequest& request) {
  if (!channel_->send(encode(request))) fail(fmt::format("the connection to the peer is lost: {}", last_error()));
  const auto frame = channel_->receive();
  const auto notice = frame ? decode_notice(*frame) : std::nullopt;
  if (!notice) fail(fmt::format("the peer did not answer: {}", last_error()));
  if (notice->kind != Notice::Kind::ready) refuse_for_now(notice->reason);
}

void RemoteSession::open_connection(std::uint32_t index) {
  Connection& connection = connections_[index];
  connection.stream = connect_to_peer(request_.protocol == Protocol::tcp);
  send_at_once(connection.stream.number(), true);
  connection.connect_s = connect_s_;
  connection.seed = index;
  const int stream = connection.stream.number();
  const SessionSecret& secret = channel_->secret();
  if (!send_all(stream, encode(DataOpening{secret.number, index, secret.tag("data", index)}))) {
    fail(fmt::format("cannot open a connection: {}", last_error()));
  }
  if (request_.protocol == Protocol::udp) open_datagrams(index);
}

// Repeats the hello until the peer confirms the address on the TCP connection.
void RemoteSession::open_datagrams(std::uint32_t index) {
  Connection& connection = connections_[index];
  connection.datagrams = bound(peer_, SOCK_DGRAM, bind_to_);
  const int socket = connection.datagrams.number();
  if (connect(socket, peer_.get(), peer_.length) != 0) fail(fmt::format("{}: {}", peer_.text(), last_error()));
  set_options(socket, request_);
  set_time_limit(socket, 0);
  const SessionSecret& secret = channel_->secret();
  DatagramHello hello{.session = secret.number, .index = index, .tag = secret.tag("datagrams", index), .cookie = {}};
  for (unsigned i = 0; i < kMaxHellos; ++i) {
    const auto message = encode(hello);
    send(socket, message.data(), message.size(), MSG_NOSIGNAL);
    std::array<pollfd, 2> poll_entries{pollfd{.fd = connection.stream.number(), .events = POLLIN},
                                       pollfd{.fd = socket, .events = POLLIN}};
    poll(poll_entries.data(), poll_entries.size(), kHelloInterval_ms);
    if (poll_entries[0].revents != 0) return;
    std::array<std::uint8_t, kDatagramHelloBytes> bytes{};
    if (recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT) != static_cast<ssize_t>(bytes.size())) continue;
    const auto answer = decode_datagram_hello(bytes);
    if (answer && answer->session == hello.session && answer->index == index) hello.cookie = answer->cookie;
  }
  fail(fmt::format("the peer answers at {} by TCP, but no datagram arrives; open UDP port {} in the firewalls",
                   peer_.text(), peer_.port()));
}

void RemoteSession::await_ready(std::uint32_t index) {
  Connection& connection = connections_[index];
  std::array<std::uint8_t, 1> ready{};
  if (!receive_all(connection.stream.number(), ready)) {
    const std::string why = why_over();
    refuse_for_now(why.empty() ? fmt::format("the peer did not accept a connection: {}", last_error()) : why);
  }
  set_time_limit(connection.stream.number(), kSilence_s);
}

double RemoteSession::median_connect_s() const {
  std::vector<double> times;
  for (const Connection& connection : connections_) times.push_back(connection.connect_s);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void RemoteSession::listen_to_peer() {
  while (why_over_.empty() && channel_->has_more()) {
    const auto frame = channel_->receive();
    const auto notice = frame ? decode_notice(*frame) : std::nullopt;
    if (!notice) {
      why_over_ = is_local_ ? "the peer on this machine has ended" : "the peer has disconnected";
    } else if (notice->kind == Notice::Kind::over) {
      why_over_ = notice->reason;
    } else {
      max_other_sessions_ = std::max(max_other_sessions_, notice->other_sessions);
    }
  }
}

unsigned RemoteSession::max_other_sessions() {
  listen_to_peer();
  return max_other_sessions_;
}

// With several connections, another one may have ended first.
std::string RemoteSession::why_over() {
  constexpr int kNews_ms = 200;
  pollfd poll_entry{.fd = channel_->socket(), .events = POLLIN};
  if (why_over_.empty()) poll(&poll_entry, 1, kNews_ms);
  listen_to_peer();
  return why_over_;
}

}  // namespace nameplate
