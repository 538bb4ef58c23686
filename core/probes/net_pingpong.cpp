// What it measures: the time of a message and its answer between this machine and a peer, over TCP or UDP, on one
// connection or several at once.
//
// Why that is valid: each connection has its own thread and socket on either side, and every round trip is timed
// separately, from before the message is sent until its answer has been read completely; answers carry the number of
// their message. At a given rate, a round trip counts from its planned start, so that delays caused by earlier ones are
// included.
//
// What it does not show: the time of one direction, since the clocks of two machines do not agree; how the time divides
// between the network and the two systems; without a named peer, any network at all.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "machine/machine.h"
#include "measure/team.h"
#include "net/net_probe.h"
#include "net/remote_session.h"
#include "net/round_trips.h"
#include "net/socket.h"
#include "probe/error.h"
#include "probe/registry.h"

namespace nameplate::net_pingpong {

namespace {

constexpr double kMaxRate = 1e9;
constexpr std::uint64_t kHeaderBytes = 29;  // of IPv4 and UDP, and the one that makes 65,536 of 65,535
// A connection without an answer for this long is dead; a datagram is considered lost a little sooner.
constexpr double kSilence_s = 10;
constexpr double kShortestWait_s = 0.2;
constexpr double kRoundTripsWaited = 4;

class NetPingpong final : public Probe {
 public:
  explicit NetPingpong(Context& context) : context_(context) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    request_ = read_request(parameters);
    session_ = std::make_unique<RemoteSession>(context_.peer, request_, machine.topology.allowed,
                                               parameters.word_if_given("bind").value_or(""));
    team_ = make_thread_team(request_.connections, machine.topology.allowed);
    const double longest_s = request_.protocol == Protocol::tcp
                                 ? kSilence_s
                                 : std::max(kShortestWait_s, kRoundTripsWaited * session_->round_trip_s());
    trips_ = std::vector<std::unique_ptr<RoundTrips>>(request_.connections);
    team_->run_untimed([&](unsigned worker) {
      trips_[worker] = std::make_unique<RoundTrips>(session_->connections()[worker], request_,
                                                    request_.interval_s * worker / request_.connections, longest_s);
      if (request_.protocol == Protocol::udp) {
        set_time_limit(session_->connections()[worker].datagrams.number(), longest_s);
      }
    });
    const NetworkPath path = path_of(machine.root, session_->connections().front().stream.number());
    Prepared prepared{.resolved = parameters, .facts = values_of(path, session_->median_connect_s())};
    prepared.facts["clock_cost_s"] = Clock::get().info().cost_s;
    prepared.facts["timed_every"] = 1;
    prepared.shares_cpus = path.is_local && std::size_t{2} * team_->size() > machine.topology.allowed.cpus.size();
    prepared.resolved.set("payload", static_cast<std::int64_t>(request_.block_bytes));
    prepared.labels = labels_of(path, context_.peer.is_local());
    return prepared;
  }

  Work run(std::uint64_t repetitions) override {
    repetitions_ = repetitions;
    const std::span<Worker> workers = team_->run(run_);
    check_errors();
    histogram_.clear();
    std::uint64_t done = 0;
    std::uint64_t lost = 0;
    for (unsigned i = 0; i < workers.size(); ++i) {
      histogram_.merge(trips_[i]->histogram());
      workers[i].ops = trips_[i]->done();
      workers[i].bytes = 2 * workers[i].ops * request_.block_bytes;
      done += workers[i].ops;
      lost += trips_[i]->lost();
    }
    counters_ = {static_cast<double>(lost), static_cast<double>(session_->max_other_sessions())};
    return {.bytes = 2 * done * request_.block_bytes,
            .ops = done,
            .workers = workers,
            .counters = counters_,
            .histogram = &histogram_};
  }

  void verify() override {
    for (const auto& trips : trips_) {
      if (!trips->is_content_right()) wrong_result("an answer differs from the message that it answers");
    }
  }

 private:
  static TrafficRequest read_request(const Parameters& parameters) {
    TrafficRequest request{.traffic = Traffic::pingpong,
                           .protocol = parse_protocol(parameters),
                           .wait = parameters.word("wait") == "spin" ? Wait::spin : Wait::block,
                           .connections = static_cast<std::uint32_t>(parameters.count("connections")),
                           .block_bytes = static_cast<std::uint64_t>(parameters.count("payload"))};
    // A payload of 64 KiB is impossible, although others call their largest datagram that.
    if (request.protocol == Protocol::udp && request.block_bytes <= kLargestDatagram + kHeaderBytes) {
      request.block_bytes = std::min(request.block_bytes, kLargestDatagram);
    }
    check_datagram(request.protocol, request.block_bytes, "payload");
    const auto rate = static_cast<double>(parameters.count_if_given("rate").value_or(0));
    request.interval_s = rate > 0 ? request.connections / rate : 0;
    return request;
  }

  void check_errors() const {
    for (const auto& trips : trips_) {
      if (!trips->error()) continue;
      const std::string why = session_->why_over();
      fail(why.empty() ? *trips->error() : why);
    }
  }

  Context& context_;
  TrafficRequest request_;
  std::unique_ptr<RemoteSession> session_;
  std::unique_ptr<Team> team_;
  std::vector<std::unique_ptr<RoundTrips>> trips_;
  std::uint64_t repetitions_ = 0;
  Histogram histogram_;
  std::vector<double> counters_;
  Team::Function run_ = [this](unsigned worker) { trips_[worker]->run(repetitions_); };
};

ProbeInfo info() {
  std::vector<Fact> facts = path_facts();
  facts.push_back({"clock_cost_s", "s", "time of reading the clock, included in every round trip"});
  facts.push_back({"timed_every", "", "one in this many round trips is timed"});
  return {.name = "net_pingpong",
          .summary = "round trips of a message and its answer over TCP and UDP",
          .parameters = {protocol_parameter(),
                         size("payload", "size of the message and of its answer", 1, static_cast<double>(kLargestBlock),
                              "64"),
                         connections_parameter(),
                         choice("wait", "how both sides wait for an answer: block sleeps in the system, spin polls",
                                {"block", "spin"}, "block"),
                         automatic_integer("rate",
                                           "round trips per second of all connections, started at planned times "
                                           "regardless of earlier round trips",
                                           1, kMaxRate, "as fast as possible"),
                         bind_parameter()},
          .counters = {{"lost", "", "datagrams without an answer in time"},
                       {"other_sessions", "", "maximum number of other sessions that the peer served at the same time",
                        Combine::last}},
          .facts = facts,
          .needs = {},
          .reports_workers = true};
}

const Registration<NetPingpong> kRegistration(info);

}  // namespace

}  // namespace nameplate::net_pingpong
