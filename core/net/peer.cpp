#include "net/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "measure/clock.h"
#include "net/socket.h"
#include "net/wire.h"
#include "probe/error.h"
#include "record/writer.h"

namespace nameplate {

namespace {

constexpr double kHandshake_s = 3;
constexpr std::uint64_t kMaxPending = 1024;
// The fractions of the process's descriptors that pending connections and sessions may use.
constexpr std::uint64_t kPendingPart = 4;
constexpr std::uint64_t kSessionsPart = 2;
constexpr double kAcceptRetry_s = 0.1;
constexpr int kBacklog = 4096;
// The maximum per listener and turn, so that other listeners get theirs.
constexpr int kMaxInTurn = 64;

// Returns how many descriptors this process may open afterwards.
std::uint64_t raise_file_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

// Returns whether accept4 failed because of a resource that becomes free when connections end.
bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

Descriptor bound_socket(const Address& address, int type) {
  Descriptor socket(::socket(address.family(), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  // The datagram sockets of the sessions share the port. SO_REUSEPORT shares it only with sockets of the same user;
  // SO_REUSEADDR would share it with every user's.
  setsockopt(socket.number(), SOL_SOCKET, type == SOCK_DGRAM ? SO_REUSEPORT : SO_REUSEADDR, &on, sizeof on);
  if (!socket.is_open() || bind(socket.number(), address.get(), address.length) != 0) {
    fail(fmt::format("cannot listen at {}: {}", address.text(), std::strerror(errno)));
  }
  return socket;
}

// Returns where to listen. A name such as localhost may have addresses of a family that the machine lacks; if it has
// none of them, they are returned, since listening gives the reason.
std::vector<Address> addresses_of(const HostAndPort& listen) {
  std::vector<Address> result = resolve(listen);
  const auto is_missing = [](const Address& address) { return !why_unreachable(address).empty(); };
  const bool has_none = std::ranges::all_of(result, is_missing);
  if (has_none && listen.host == "localhost") return resolve({.host = loopback_host(), .port = listen.port});
  if (!has_none) std::erase_if(result, is_missing);
  return result;
}

void make_blocking(int socket) { fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK); }

}  // namespace

Peer::Peer(PeerOptions options)
    : options_(std::move(options)),
      max_descriptors_(raise_file_limit()),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      session_ended_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      pending_(std::min(kMaxPending, max_descriptors_ / kPendingPart)),
      pool_({.sockets = std::min(options_.all_sessions.sockets, max_descriptors_ / kSessionsPart),
             .memory_bytes = options_.all_sessions.memory_bytes}) {
  for (const Address& address : addresses_of(options_.listen)) {
    if (!address.is_loopback() && !options_.key.is_given()) {
      fail(
          fmt::format("other machines can reach {}, so a key is needed; create one with nameplate serve --new-key "
                      "FILE and give it with --key-file",
                      address.text()));
    }
    listen_at(address);
  }
  watch(session_ended_.number());
}

void Peer::listen_at(const Address& address) {
  const Address requested = addresses_.empty() ? address : address.with_port(addresses_.front().port());
  Descriptor streams = bound_socket(requested, SOCK_STREAM);
  if (listen(streams.number(), kBacklog) != 0) {
    fail(fmt::format("cannot listen at {}: {}", requested.text(), std::strerror(errno)));
  }
  const Address local = local_address(streams.number());
  addresses_.push_back(local);
  datagram_listeners_.push_back(bound_socket(local, SOCK_DGRAM));
  stream_listeners_.push_back(std::move(streams));
  watch(stream_listeners_.back().number());
  watch(datagram_listeners_.back().number());
}

void Peer::give_port_to(uid_t user) {
  for (const Descriptor& listener : datagram_listeners_) {
    if (fchown(listener.number(), user, static_cast<gid_t>(-1)) != 0) {
      fail(fmt::format("cannot give the UDP port to user {}: {}", user, std::strerror(errno)));
    }
  }
}

void Peer::watch(int descriptor) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
  if (epoll_ctl(events_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail("cannot watch a socket");
}

void Peer::run(int stop) {
  watch(stop);
  for (;;) {
    std::array<epoll_event, kMaxInTurn> events{};
    const int count = epoll_wait(events_.number(), events.data(), kMaxInTurn, wait_ms());
    for (int i = 0; i < count; ++i) {
      const int socket = events.at(static_cast<std::size_t>(i)).data.fd;
      if (socket == stop) return;
      try {
        handle(socket);
      } catch (const std::exception& error) {
        // Out of memory, threads or sockets: the request is rejected, and others continue.
        print_message(fmt::format("nameplate-core: {}\n", error.what()));
      }
    }
    while (!pending_.is_empty() && pending_.oldest().latest_s < now_s()) take_out(pending_.oldest());
    while (pending_.has_too_many()) take_out(pending_.oldest_of_busiest());
    if (accept_retry_s_ < now_s()) accept_streams(true);
  }
}

void Peer::handle(int socket) {
  const auto is_among = [socket](const std::vector<Descriptor>& listeners) {
    return std::ranges::any_of(listeners, [socket](const Descriptor& d) { return d.number() == socket; });
  };
  if (socket == session_ended_.number()) {
    remove_ended();
  } else if (is_among(stream_listeners_)) {
    accept_all(socket);
  } else if (is_among(datagram_listeners_)) {
    answer_datagrams(socket);
  } else if (PendingConnection* pending = pending_.find(socket); pending != nullptr) {
    on_readable(*pending);
  }
}

int Peer::wait_ms() const {
  constexpr double kMilliseconds = 1e3;
  const double next_s = pending_.is_empty() ? accept_retry_s_ : std::min(accept_retry_s_, pending_.oldest().latest_s);
  if (std::isinf(next_s)) return -1;
  return static_cast<int>(std::max(0.0, next_s - now_s()) * kMilliseconds) + 1;
}

// If there is no room for another connection, a pending one is dropped for it. If none is pending either, the new
// connection waits in the listener's queue: a listener that is always ready and never served would keep this thread
// busy.
void Peer::accept_all(int listener) {
  for (int i = 0; i < kMaxInTurn; ++i) {
    Address from;
    Descriptor socket(accept4(listener, from.get(), &from.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.is_open()) {
      add_pending(std::move(socket), from);
    } else if (is_shortage(errno) && !pending_.is_empty()) {
      take_out(pending_.oldest_of_busiest());
    } else {
      if (is_shortage(errno)) accept_streams(false);
      return;
    }
  }
}

// A client sends its first message as soon as it is connected. New connections are read at once, so that the
// connections of a client are seldom pending, whatever their number.
void Peer::add_pending(Descriptor socket, const Address& from) {
  const int number = socket.number();
  pending_.add({.socket = std::move(socket),
                .latest_s = now_s() + kHandshake_s,
                .handshake = PeerHandshake(options_.key, next_session_++)},
               from);
  watch(number);
  on_readable(*pending_.find(number));
}

// A paused listener resumes after a while.
void Peer::accept_streams(bool on) {
  accept_retry_s_ = on ? std::numeric_limits<double>::infinity() : now_s() + kAcceptRetry_s;
  for (const Descriptor& listener : stream_listeners_) {
    epoll_event event{.events = on ? std::uint32_t{EPOLLIN} : 0, .data = {.fd = listener.number()}};
    epoll_ctl(events_.number(), EPOLL_CTL_MOD, listener.number(), &event);
  }
}

PendingConnection Peer::take_out(const PendingConnection& pending) {
  const int socket = pending.socket.number();
  epoll_ctl(events_.number(), EPOLL_CTL_DEL, socket, nullptr);
  return pending_.take(socket);
}

void Peer::on_readable(PendingConnection& pending) {
  const int socket = pending.socket.number();
  auto& received = pending.received;
  const std::size_t before = received.size();
  received.resize(pending.handshake.required_bytes());
  const ssize_t got = recv(socket, received.data() + before, received.size() - before, 0);
  if (got <= 0) {
    received.resize(before);
    if (got == 0 || errno != EAGAIN) take_out(pending);
    return;
  }
  received.resize(before + static_cast<std::size_t>(got));
  if (received.size() < pending.handshake.required_bytes()) return;
  const auto state = pending.handshake.take(received);
  received.clear();
  const auto& answer = pending.handshake.answer();
  // A newly accepted socket has room for this little data.
  const bool is_sent =
      answer.empty() || send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(answer.size());
  if (state == PeerHandshake::State::data) {
    join_session(take_out(pending));
  } else if (state == PeerHandshake::State::authenticated && is_sent) {
    start_session(take_out(pending));
  } else if (state != PeerHandshake::State::going_on || !is_sent) {
    take_out(pending);
  }
}

void Peer::start_session(PendingConnection pending) {
  make_blocking(pending.socket.number());
  const SessionSecret secret = pending.handshake.secret();
  Channel channel(std::move(pending.socket), secret, Channel::Side::peer);
  if (sessions_.size() >= options_.max_sessions) {
    channel.send(encode(Notice{.kind = Notice::Kind::refused,
                               .reason = "the peer is serving its maximum number of "
                                         "sessions"}));
    return;
  }
  const auto say_ended = [event = session_ended_.number()] { eventfd_write(event, 1); };
  sessions_[secret.number] =
      std::make_unique<PeerSession>(std::move(channel), options_.session, options_.cpus, pool_, say_ended);
  tell_neighbours();
}

void Peer::join_session(PendingConnection pending) {
  const DataOpening opening = pending.handshake.opening();
  const auto session = sessions_.find(opening.session);
  if (session == sessions_.end()) return;
  make_blocking(pending.socket.number());
  session->second->adopt(opening, std::move(pending.socket));
}

void Peer::answer_datagrams(int listener) {
  for (int i = 0; i < kMaxInTurn; ++i) {
    std::array<std::uint8_t, kDatagramHelloBytes + 1> message{};
    Address from;
    const ssize_t got = recvfrom(listener, message.data(), message.size(), 0, from.get(), &from.length);
    if (got < 0) return;
    const auto hello = decode_datagram_hello({message.data(), static_cast<std::size_t>(got)});
    if (hello) answer(*hello, listener, from);
  }
}

Mac Peer::cookie_of(const DatagramHello& hello, const Address& from) const {
  const auto identity =
      WireWriter().text(from.host_bytes()).number(from.port()).number(hello.session).number(hello.index).take();
  return authenticate(cookie_key_.bytes(), "cookie", {identity});
}

// Nothing is sent to an address that did not open a session by TCP, and no traffic before the address has returned its
// cookie.
void Peer::answer(const DatagramHello& hello, int listener, const Address& from) {
  const auto session = sessions_.find(hello.session);
  if (session == sessions_.end() || !session->second->expects(hello, from)) return;
  const Mac cookie = cookie_of(hello, from);
  if (!are_equal(hello.cookie, cookie)) {
    const auto answer = encode(DatagramHello{.session = hello.session, .index = hello.index, .cookie = cookie});
    sendto(listener, answer.data(), answer.size(), 0, from.get(), from.length);
    return;
  }
  Descriptor socket = bound_socket(session->second->local_address(), SOCK_DGRAM);
  if (connect(socket.number(), from.get(), from.length) != 0) return;
  make_blocking(socket.number());
  session->second->adopt(hello, std::move(socket));
}

void Peer::remove_ended() {
  eventfd_t ended = 0;
  eventfd_read(session_ended_.number(), &ended);
  std::erase_if(sessions_, [](const auto& entry) { return entry.second->has_ended(); });
  tell_neighbours();
}

void Peer::tell_neighbours() {
  for (const auto& [number, session] : sessions_)
    session->set_other_sessions(static_cast<unsigned>(sessions_.size()) - 1);
}

}  // namespace nameplate
