#include "net/peer_session.h"

#include <fmt/format.h>
#include <poll.h>

#include "machine/affinity.h"
#include "measure/clock.h"
#include "net/round_trips.h"
#include "net/socket.h"
#include "net/stream_receiver.h"
#include "net/stream_sender.h"
#include "net/tcp_state.h"
#include "net/wire.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr double kRequestLimit_s = 3;
// The interval for checking limits and other sessions, and the delay until a thread that waits for datagrams notices
// the end.
constexpr int kWatchInterval_ms = 100;
constexpr double kDatagramLimit_s = 0.1;
constexpr std::uint64_t kMaxBytesOfSample = std::uint64_t{1} << 62U;

}  // namespace

PeerSession::PeerSession(Channel channel, const SessionLimits& limits, std::vector<unsigned> cpus, ResourcePool& pool,
                         std::function<void()> ended)
    : channel_(std::move(channel)),
      limits_(limits),
      cpus_(std::move(cpus)),
      pool_(pool),
      when_ended_(std::move(ended)),
      host_(peer_address(channel_.socket()).host_bytes()),
      thread_([this] { serve(); }) {}

PeerSession::~PeerSession() {
  stopped_ = true;
  thread_.join();
  pool_.give_back(taken_);
}

void PeerSession::serve() {
  set_time_limit(channel_.socket(), kRequestLimit_s);
  keep_alive(channel_.socket());
  if (accept_request()) watch();
  end_connections();
  for (const auto& slot : slots_) {
    if (slot->thread.joinable()) slot->thread.join();
  }
  ended_ = true;
  when_ended_();
}

bool PeerSession::accept_request() {
  const auto frame = channel_.receive();
  if (!frame) return false;
  const auto request = decode_traffic_request(*frame);
  const std::string why = why_refused(request);
  if (!why.empty()) {
    channel_.send(encode(Notice{.kind = Notice::Kind::refused, .reason = why}));
    return false;
  }
  {
    const std::scoped_lock lock(mutex_);
    request_ = *request;
    for (std::uint32_t i = 0; i < request_.all_connections(); ++i) slots_.push_back(std::make_unique<ConnectionSlot>());
  }
  return channel_.send(encode(Notice{.kind = Notice::Kind::ready}));
}

std::string PeerSession::why_refused(const std::optional<TrafficRequest>& request) {
  if (!request) return "the peer does not know this kind of traffic";
  const Resources required = resources_of(*request);
  std::string why = pool_.take(required);
  if (why.empty()) taken_ = required;
  return why;
}

// Returns when the client leaves, which shows as the end of its first connection, or reaches its limits.
void PeerSession::watch() {
  const double start_s = now_s();
  // Sessions that are about to end do not count: they are reported if they are still there later.
  unsigned reported = 0;
  for (;;) {
    pollfd poll_entry{.fd = channel_.socket(), .events = POLLIN};
    // A client sends nothing more: any input is its end.
    if (poll(&poll_entry, 1, kWatchInterval_ms) > 0) return;
    const std::string why = why_over(start_s);
    if (!why.empty()) {
      channel_.send(encode(Notice{.kind = Notice::Kind::over, .reason = why}));
      return;
    }
    const Notice notice{.kind = Notice::Kind::other_sessions, .other_sessions = other_sessions_};
    if (notice.other_sessions != reported && !channel_.send(encode(notice))) return;
    reported = notice.other_sessions;
  }
}

std::string PeerSession::why_over(double start_s) {
  {
    const std::scoped_lock lock(mutex_);
    if (!failure_.empty()) return failure_;
  }
  if (stopped_) return "the peer was stopped";
  if (now_s() - start_s > limits_.seconds) return fmt::format("the peer allows {:g} s per session", limits_.seconds);
  std::uint64_t bytes = 0;
  for (const auto& slot : slots_) bytes += slot->state.bytes.load(std::memory_order_relaxed);
  return bytes > limits_.bytes ? fmt::format("the peer allows {} bytes per session", limits_.bytes) : "";
}

void PeerSession::end_connections() {
  const std::scoped_lock lock(mutex_);
  for (const auto& slot : slots_) {
    slot->state.stopped = true;
    for (const Descriptor* socket : {&slot->connection.stream, &slot->connection.datagrams}) {
      if (socket->is_open()) shutdown(socket->number(), SHUT_RDWR);
    }
  }
  changed_.notify_all();
}

void PeerSession::adopt(const DataOpening& opening, Descriptor stream) {
  const std::scoped_lock lock(mutex_);
  if (opening.index >= slots_.size() || !are_equal(opening.tag, channel_.secret().tag("data", opening.index))) return;
  ConnectionSlot& slot = *slots_[opening.index];
  if (slot.is_taken || slot.state.stopped) return;
  slot.is_taken = true;
  slot.connection.stream = std::move(stream);
  slot.connection.seed = opening.index;
  slot.thread = std::thread([this, &slot, index = opening.index] { serve_connection(slot, index); });
}

bool PeerSession::expects(const DatagramHello& hello, const Address& from) {
  const std::scoped_lock lock(mutex_);
  return request_.protocol == Protocol::udp && hello.index < slots_.size() && from.host_bytes() == host_ &&
         are_equal(hello.tag, channel_.secret().tag("datagrams", hello.index)) && slots_[hello.index]->is_taken &&
         !slots_[hello.index]->connection.datagrams.is_open();
}

void PeerSession::adopt(const DatagramHello& hello, Descriptor datagrams) {
  const std::scoped_lock lock(mutex_);
  slots_[hello.index]->connection.datagrams = std::move(datagrams);
  changed_.notify_all();
}

bool PeerSession::await_datagrams(ConnectionSlot& slot) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&slot] { return slot.connection.datagrams.is_open() || slot.state.stopped; });
  return !slot.state.stopped;
}

// A system error, including lack of memory, ends this session and no other.
void PeerSession::serve_connection(ConnectionSlot& slot, std::uint32_t index) {
  std::optional<ScopedBinding> binding;
  // The client's thread of this connection is on the previous CPU.
  if (!cpus_.empty()) binding.emplace(cpus_[(index + 1) % cpus_.size()]);
  try {
    prepare(slot);
    const std::uint8_t ready = 1;
    if (!slot.state.stopped && send_all(slot.connection.stream.number(), {&ready, 1})) {
      if (request_.traffic == Traffic::pingpong) {
        echo(slot.connection, request_, slot.state);
      } else {
        serve_stream(slot, index);
      }
    }
  } catch (const std::exception& error) {
    const std::scoped_lock lock(mutex_);
    failure_ = fmt::format("the peer: {}", error.what());
    return;  // the connection stays open, so that the client can be told the reason
  }
  shutdown(slot.connection.stream.number(), SHUT_RDWR);
}

void PeerSession::prepare(ConnectionSlot& slot) {
  const int stream = slot.connection.stream.number();
  set_time_limit(stream, 0);
  send_at_once(stream, true);
  if (request_.protocol == Protocol::tcp) {
    set_options(stream, request_);
  } else if (await_datagrams(slot)) {
    set_options(slot.connection.datagrams.number(), request_);
    set_time_limit(slot.connection.datagrams.number(), kDatagramLimit_s);
  }
}

void PeerSession::serve_stream(ConnectionSlot& slot, std::uint32_t index) {
  const int stream = slot.connection.stream.number();
  if (request_.goes_up(index)) {
    StreamReceiver receiver(slot.connection, request_, {.round_trip_s = read_tcp(stream).round_trip_s});
    while (receiver.receive(slot.state) && send_all(stream, encode(receiver.report()))) {
    }
    return;
  }
  StreamSender sender(slot.connection, request_, 0);
  for (std::array<std::uint8_t, sizeof(std::uint64_t)> requested{}; receive_all(stream, requested);) {
    const auto blocks = WireReader(requested).number<std::uint64_t>(1, kMaxBytesOfSample / request_.block_bytes);
    if (blocks == 0 || !sender.send(blocks, slot.state)) return;
  }
}

}  // namespace nameplate
