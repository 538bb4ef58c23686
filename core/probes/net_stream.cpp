// What it measures: the bytes per second from this machine to a peer, in the other direction, or both at once, over TCP
// connections or as datagrams, and where lost datagrams were dropped.
//
// Why that is valid: bytes are counted where they arrive, copied into the receiving program; every sample ends when the
// receiver has reported what it has, so nothing is left in a queue; for datagrams, sent = received + lost, and the
// receiver's own queue reports how many it dropped.
//
// What it does not show: a network, without a named peer; where between the two systems a datagram was lost; a rate
// that takes longer than a sample to build up.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "machine/machine.h"
#include "measure/team.h"
#include "net/net_probe.h"
#include "net/remote_session.h"
#include "net/socket.h"
#include "net/stream_receiver.h"
#include "net/stream_sender.h"
#include "net/wire.h"
#include "probe/error.h"
#include "probe/registry.h"

namespace nameplate::net_stream {

namespace {

constexpr double kMaxBitRate = 1e13;
constexpr double kBits = 8;
constexpr std::int64_t kStreamBlock = 65536;
// The payload of an Ethernet frame of the usual size, without the headers of IP and UDP.
constexpr std::int64_t kDatagramBlock = 1472;
constexpr double kWatchInterval_s = 0.1;
constexpr double kSilence_s = 10;
constexpr double kIntervals = 10;

// The local half of a connection.
struct Part {
  std::unique_ptr<StreamSender> sender;
  std::unique_ptr<StreamReceiver> receiver;
  ConnectionState state;
  SendReport sent;
  ReceiveReport received;
  std::string error;
};

class NetStream final : public Probe {
 public:
  explicit NetStream(Context& context) : context_(context) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    request_ = read_request(parameters);
    session_ = std::make_unique<RemoteSession>(context_.peer, request_, machine.topology.allowed,
                                               parameters.word_if_given("bind").value_or(""));
    const std::uint32_t all = request_.all_connections();
    team_ = make_thread_team(all, machine.topology.allowed);
    parts_ = std::vector<std::unique_ptr<Part>>(all);
    team_->run_untimed([this](unsigned worker) { make_part(worker); });
    const NetworkPath path = path_of(machine.root, session_->connections().front().stream.number());
    Prepared prepared{.resolved = parameters, .facts = values_of(path, session_->median_connect_s())};
    prepared.resolved.set("block", static_cast<std::int64_t>(request_.block_bytes));
    prepared.resolved.set("receive", receive_word(request_.receive));
    prepared.shares_cpus = path.is_local && std::size_t{2} * team_->size() > machine.topology.allowed.cpus.size();
    prepared.labels = labels_of(path, context_.peer.is_local());
    return prepared;
  }

  void prepare() override { follows_on_ = false; }

  Work run(std::uint64_t repetitions) override;

  void verify() override {
    for (const auto& part : parts_) {
      if (part->received.blocks > 0 && !part->received.is_content_right) {
        wrong_result("the last data that arrived differ from what was sent");
      }
    }
  }

 private:
  static TrafficRequest read_request(const Parameters& parameters);
  static std::string receive_word(ReceiveMode mode);
  void make_part(unsigned worker);
  void stream(unsigned worker);
  void send(Part& part, const Connection& connection) const;
  void receive(Part& part, const Connection& connection) const;
  void check_errors() const;

  Context& context_;
  TrafficRequest request_;
  std::unique_ptr<RemoteSession> session_;
  std::unique_ptr<Team> team_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::uint64_t repetitions_ = 0;
  bool follows_on_ = false;  // in a series, where calls follow each other without a preparation
  std::vector<double> counters_;
  Team::Function run_ = [this](unsigned worker) { stream(worker); };
};

SendMode parse_send(const std::string& word) {
  if (word == "plain") return SendMode::plain;
  if (word == "mmsg") return SendMode::mmsg;
  return word == "gso" ? SendMode::gso : SendMode::zerocopy;
}

// By default the receiver takes datagrams as the sender sends them.
ReceiveMode receive_mode(const Parameters& parameters, SendMode send) {
  const auto word = parameters.word_if_given("receive");
  if (word) return *word == "plain" ? ReceiveMode::plain : *word == "mmsg" ? ReceiveMode::mmsg : ReceiveMode::gro;
  if (send == SendMode::gso) return ReceiveMode::gro;
  return send == SendMode::mmsg ? ReceiveMode::mmsg : ReceiveMode::plain;
}

std::string NetStream::receive_word(ReceiveMode mode) {
  return mode == ReceiveMode::plain ? "plain" : mode == ReceiveMode::mmsg ? "mmsg" : "gro";
}

TrafficRequest NetStream::read_request(const Parameters& parameters) {
  const Protocol protocol = parse_protocol(parameters);
  const bool is_tcp = protocol == Protocol::tcp;
  const std::string& direction = parameters.word("direction");
  const SendMode send = parse_send(parameters.word("mode"));
  TrafficRequest request{.traffic = Traffic::stream,
                         .protocol = protocol,
                         .direction = direction == "up"     ? Direction::up
                                      : direction == "down" ? Direction::down
                                                            : Direction::both,
                         .send = send,
                         .receive = receive_mode(parameters, send),
                         .connections = static_cast<std::uint32_t>(parameters.count("connections")),
                         .block_bytes = static_cast<std::uint64_t>(
                             parameters.count_if_given("block").value_or(is_tcp ? kStreamBlock : kDatagramBlock)),
                         .window_bytes = static_cast<std::uint32_t>(parameters.count_if_given("window").value_or(0)),
                         .segment_bytes = static_cast<std::uint32_t>(parameters.count_if_given("mss").value_or(0)),
                         .congestion = parameters.word_if_given("congestion").value_or("")};
  check_datagram(protocol, request.block_bytes, "block");
  const bool is_batch = send == SendMode::mmsg || send == SendMode::gso || request.receive != ReceiveMode::plain;
  if (is_tcp && is_batch) refuse("protocol=tcp: only udp has modes that handle several datagrams at once");
  if (is_tcp && parameters.has("rate")) refuse("protocol=tcp rate: TCP controls its rate itself; only udp has a rate");
  if (!is_tcp && (request.segment_bytes > 0 || !request.congestion.empty())) {
    refuse("protocol=udp: only tcp has mss and congestion");
  }
  if (!is_tcp && request.block_bytes < kDatagramHeaderBytes) {
    refuse(fmt::format("block={} protocol=udp: each datagram carries its number and time, {} bytes",
                       request.block_bytes, kDatagramHeaderBytes));
  }
  if (const auto rate = parameters.count_if_given("rate")) {
    request.interval_s =
        kBits * static_cast<double>(request.block_bytes * request.all_connections()) / static_cast<double>(*rate);
  }
  return request;
}

void NetStream::make_part(unsigned worker) {
  const Connection& connection = session_->connections()[worker];
  auto part = std::make_unique<Part>();
  if (request_.goes_up(worker)) {
    const double delay_s = request_.interval_s * worker / request_.all_connections();
    part->sender = std::make_unique<StreamSender>(connection, request_, delay_s);
  } else {
    part->receiver =
        std::make_unique<StreamReceiver>(connection, request_,
                                         Timeouts{.round_trip_s = session_->round_trip_s(),
                                                  .silence_s = std::max(kSilence_s, kIntervals * request_.interval_s)});
    if (request_.protocol == Protocol::udp) set_time_limit(connection.datagrams.number(), kWatchInterval_s);
  }
  parts_[worker] = std::move(part);
}

void NetStream::stream(unsigned worker) {
  Part& part = *parts_[worker];
  const Connection& connection = session_->connections()[worker];
  if (part.sender) {
    send(part, connection);
  } else {
    receive(part, connection);
  }
}

void NetStream::send(Part& part, const Connection& connection) const {
  if (!part.sender->send(repetitions_, part.state, follows_on_)) {
    part.error = part.sender->error();
    return;
  }
  part.sent = part.sender->report();
  std::array<std::uint8_t, kReportBytes> bytes{};
  if (!receive_all(connection.stream.number(), bytes)) {
    part.error = fmt::format("waiting for the receiver's report: {}", last_error());
    return;
  }
  const auto report = decode_receive_report(bytes);
  if (report) part.received = *report;
  if (!report) part.error = "the receiver's report is inconsistent";
}

void NetStream::receive(Part& part, const Connection& connection) const {
  if (!send_all(connection.stream.number(), WireWriter().number(repetitions_).take()) ||
      !part.receiver->receive(part.state)) {
    part.error = fmt::format("receiving: {}", last_error());
    return;
  }
  part.sent = part.receiver->sent();
  part.received = part.receiver->report();
}

void NetStream::check_errors() const {
  for (const auto& part : parts_) {
    if (part->error.empty()) continue;
    const std::string why = session_->why_over();
    fail(why.empty() ? part->error : why);
  }
}

// The drops of the receiving queue, and earlier losses. The system counts the buffers that it drops, and a merged one
// (gro) holds as many datagrams as were sent at once: up to that number, missing datagrams were in them.
struct Losses {
  std::uint64_t queue = 0;
  std::uint64_t network = 0;
};

Losses losses_of(const Part& part, ReceiveMode receive) {
  const std::uint64_t missing = part.sent.sent > part.received.blocks ? part.sent.sent - part.received.blocks : 0;
  const std::uint64_t held = receive == ReceiveMode::gro ? kMaxSegments : 1;
  const std::uint64_t queue = std::min(missing, part.received.queue_drops * held);
  return {.queue = queue, .network = missing - queue};
}

// A sample's counters except the last, in the order in which they are declared.
struct Totals {
  double up_bytes = 0;
  double down_bytes = 0;
  double sent = 0;
  double lost_sender = 0;
  double lost_queue = 0;
  double lost_network = 0;
  double reordered = 0;
  double duplicates = 0;
  double jitter_s = 0;
  double retransmits = 0;
  double window_bytes = 0;
  double round_trip_s = 0;
  double zerocopy_sends = 0;
  double zerocopy_copied = 0;

  void add_sent(const SendReport& report);
  void add_received(const ReceiveReport& report, bool is_up);
  [[nodiscard]] std::vector<double> counters(double other_sessions) const;
};

void Totals::add_sent(const SendReport& report) {
  sent += static_cast<double>(report.sent + report.refused);
  lost_sender += static_cast<double>(report.refused);
  retransmits += static_cast<double>(report.retransmits);
  window_bytes += static_cast<double>(report.window_bytes);
  round_trip_s = std::max(round_trip_s, report.round_trip_s);
  zerocopy_sends += static_cast<double>(report.zerocopy_sends);
  zerocopy_copied += static_cast<double>(report.zerocopy_copied);
}

void Totals::add_received(const ReceiveReport& report, bool is_up) {
  (is_up ? up_bytes : down_bytes) += static_cast<double>(report.bytes);
  reordered += static_cast<double>(report.reordered);
  duplicates += static_cast<double>(report.duplicates);
  jitter_s = std::max(jitter_s, report.jitter_s);
}

std::vector<double> Totals::counters(double other_sessions) const {
  return {up_bytes, down_bytes,  sent,         lost_sender,  lost_queue,     lost_network,    reordered,     duplicates,
          jitter_s, retransmits, window_bytes, round_trip_s, zerocopy_sends, zerocopy_copied, other_sessions};
}

Work NetStream::run(std::uint64_t repetitions) {
  repetitions_ = repetitions;
  const std::span<Worker> workers = team_->run(run_);
  follows_on_ = true;
  check_errors();
  const Clock& clock = Clock::get();
  const bool is_udp = request_.protocol == Protocol::udp;
  Totals totals;
  Work work{.workers = workers};
  for (unsigned i = 0; i < workers.size(); ++i) {
    const Part& part = *parts_[i];
    workers[i].bytes = part.received.bytes;
    workers[i].ops = part.received.blocks;
    // The exchange after the last datagram does not belong to the stream's time.
    if (is_udp) workers[i].finish = workers[i].start + clock.ticks(std::max(part.sent.span_s, part.received.span_s));
    work.bytes += part.received.bytes;
    work.ops += part.received.blocks;
    totals.add_sent(part.sent);
    totals.add_received(part.received, part.sender != nullptr);
    if (!is_udp) continue;
    const Losses losses = losses_of(part, request_.receive);
    totals.lost_queue += static_cast<double>(losses.queue);
    totals.lost_network += static_cast<double>(losses.network);
  }
  counters_ = totals.counters(static_cast<double>(session_->max_other_sessions()));
  work.counters = counters_;
  return work;
}

ProbeInfo info() {
  return {
      .name = "net_stream",
      .summary = "bulk transfer over TCP and UDP, up, down and both ways",
      .parameters =
          {protocol_parameter(),
           choice("direction", "up: from this machine to the peer; both: connections= in each direction at once",
                  {"up", "down", "both"}, "up"),
           connections_parameter(),
           automatic_size("block", "bytes given to the system per call; for udp the payload of a datagram", 1,
                          static_cast<double>(kLargestBlock), "64 KiB for tcp, 1,472 B for udp"),
           choice("mode",
                  "how the sender passes its blocks on: plain: one per call; mmsg and gso (udp): 64 per call, which "
                  "gso leaves to the kernel or the network card to split; zerocopy: without a copy, if the kernel "
                  "can",
                  {"plain", "mmsg", "gso", "zerocopy"}, "plain"),
           automatic_choice("receive", "how the receiver takes datagrams: one per call, 64, or merged (gro)",
                            {"plain", "mmsg", "gro"}, "like the sender's mode"),
           automatic_bit_rate("rate", "payload rate of all udp connections together", 1, kMaxBitRate,
                              "as fast as possible"),
           automatic_size("window", "size of the sockets' buffers, in each direction", 1024, 0x1p30,
                          "the system's default"),
           automatic_integer("mss", "TCP's maximum segment size in bytes", 88, 65535, "as the path allows"),
           automatic_text("congestion", "TCP's congestion control, by the system's name for it",
                          "the system's default"),
           bind_parameter()},
      .counters = {{"up_bytes", "B", "bytes that arrived at the peer"},
                   {"down_bytes", "B", "bytes that arrived at this machine"},
                   {"sent", "", "blocks or datagrams that the sender attempted to send"},
                   {"lost_sender", "", "datagrams that the sending system rejected because its queues were full"},
                   {"lost_queue", "", "datagrams that were dropped because the receiving socket's queue was full"},
                   {"lost_network", "", "datagrams that were sent and did not arrive"},
                   {"reordered", "", "datagrams that a later one overtook"},
                   {"duplicates", "", "datagrams that arrived twice"},
                   {"jitter_s", "s", "jitter of datagrams (RFC 3550), of the worst connection", Combine::last},
                   {"retransmits", "", "segments that TCP sent again"},
                   {"window_bytes", "B", "sum of TCP's congestion windows, at the end", Combine::last},
                   {"round_trip_s", "s", "TCP's smoothed round-trip time, of the worst connection", Combine::last},
                   {"zerocopy_sends", "", "zero-copy send calls"},
                   {"zerocopy_copied", "", "those of them whose data the kernel copied nevertheless"},
                   {"other_sessions", "", "maximum number of other sessions that the peer served at the same time",
                    Combine::last}},
      .facts = path_facts(),
      .needs = {},
      .reports_workers = true};
}

const Registration<NetStream> kRegistration(info);

}  // namespace

}  // namespace nameplate::net_stream
