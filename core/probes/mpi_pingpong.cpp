// What it measures: the time of a message of a given size from one rank of an MPI job to another, with one or several
// pairs of ranks exchanging messages at once.
//
// Why that is valid: a pair sends a message back and forth with MPI_Send and MPI_Recv, as common benchmarks do, and the
// rank that starts times a whole batch, so that the clock is not read per message and the clocks of two machines are
// not compared. All pairs start after a barrier and one exchange that is not timed. Ranks that take no part sleep. Both
// ranks compare the last message of every batch with what the other one must have sent.
//
// What it does not show: one direction alone, since the time is half of a round trip; transfers with more than one
// message in flight.

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "cluster/pairing.h"
#include "measure/clock.h"
#include "mpi/distributed.h"
#include "mpi/line_between_ranks.h"
#include "mpi/message.h"
#include "mpi/tree.h"
#include "probe/error.h"

namespace nameplate::mpi_pingpong {

namespace {

constexpr double kMaxPairs = 1e6;
constexpr double kLargestMessage = 0x1p30;
constexpr int kReport = 2;

// The report on a batch by the rank that starts a pair's exchanges.
struct PairTime {
  double start_s = 0;  // since the barrier
  double elapsed_s = 0;
};

class MpiPingpong final : public DistributedProbe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override;
  void connect() override;
  Work run(std::uint64_t repetitions) override;

  void verify() override {
    if (!is_content_right_) wrong_result("a message differs from what was sent");
  }

  void teardown() override {
    if (active_ != MPI_COMM_NULL) MPI_Comm_free(&active_);
  }

 private:
  PairTime exchange(std::uint64_t repetitions);
  void report(const PairTime& pair_time);
  Work work_of(std::uint64_t repetitions, Ticks start);
  std::string label() const;

  Pairing pairing_;
  std::optional<PairRole> role_;
  int size_bytes_ = 0;
  Message message_;
  bool is_content_right_ = true;
  MPI_Comm active_ = MPI_COMM_NULL;  // all that exchange messages
  std::vector<PairTime> times_;      // on the leading rank, in the order of the pairs
  std::vector<Worker> workers_;
  double line_round_trip_s_ = 0;
};

Prepared MpiPingpong::setup(const Parameters& parameters, const Machine& /*machine*/) {
  const Ranks& ranks = Ranks::get();
  pairing_ = {.kind = parse_pairing(parameters.word("pairing")),
              .ranks = ranks.size(),
              .pairs = static_cast<int>(parameters.count("pairs")),
              .seed = static_cast<std::uint64_t>(parameters.count("seed"))};
  if (ranks.size() < 2)
    refuse(
        "one rank only, but a message needs two; launch at least two with --mpi \"mpirun -n "
        "2\"");
  if (2 * pairing_.pairs > ranks.size()) {
    refuse(fmt::format("pairs={}: {} ranks can form at most {} pairs", pairing_.pairs, ranks.size(), ranks.size() / 2));
  }
  size_bytes_ = static_cast<int>(parameters.count("size"));
  role_ = role_of(pairing_, ranks.rank());
  if (role_) message_ = Message(size_bytes_, parse_data(parameters.word("data")));
  Prepared prepared{.resolved = parameters};
  if (!ranks.leads()) return prepared;
  int between_nodes = 0;
  for (int i = 0; i < pairing_.pairs; ++i) {
    const int first = first_of(pairing_, i);
    if (ranks.node_of(first) != ranks.node_of(role_of(pairing_, first)->partner)) ++between_nodes;
  }
  prepared.facts = {{"ranks", static_cast<double>(ranks.size())},
                    {"nodes", static_cast<double>(ranks.nodes().size())},
                    {"pairs_between_nodes", static_cast<double>(between_nodes)}};
  prepared.labels = {{"ranks", label()}};
  return prepared;
}

// "0-2 1-3", in the order of the sample's workers.
std::string MpiPingpong::label() const {
  std::string text;
  for (int i = 0; i < pairing_.pairs; ++i) {
    const int first = first_of(pairing_, i);
    text += fmt::format("{}{}-{}", i == 0 ? "" : " ", first, role_of(pairing_, first)->partner);
  }
  return text;
}

void MpiPingpong::connect() {
  const Ranks& ranks = Ranks::get();
  line_round_trip_s_ = farthest_pair_round_trip_s(role_ ? std::optional(role_->partner) : std::nullopt);
  MPI_Comm_split(MPI_COMM_WORLD, role_ ? 0 : MPI_UNDEFINED, ranks.rank(), &active_);
  if (ranks.leads()) times_.resize(static_cast<std::size_t>(pairing_.pairs));
}

Work MpiPingpong::run(std::uint64_t repetitions) {
  PairTime pair_time;
  const Ticks start = Clock::now();
  if (role_) pair_time = exchange(repetitions);
  const bool leads = Ranks::get().leads();
  if (leads || (role_ && role_->is_first)) report(pair_time);
  return leads ? work_of(repetitions, start) : Work{};
}

PairTime MpiPingpong::exchange(std::uint64_t repetitions) {
  const int partner = role_->partner;
  message_.renew();
  MPI_Barrier(active_);
  const Ticks together = Clock::now();
  if (!role_->is_first) {
    message_.answer(1 + repetitions, partner, MPI_COMM_WORLD);
    is_content_right_ = is_content_right_ && message_.is_received_right();
    return {};
  }
  message_.exchange(1, partner, MPI_COMM_WORLD);
  const Ticks start = Clock::now();
  message_.exchange(repetitions, partner, MPI_COMM_WORLD);
  const Ticks finish = Clock::now();
  is_content_right_ = is_content_right_ && message_.is_received_right();
  const Clock& clock = Clock::get();
  return {.start_s = clock.seconds(start - together), .elapsed_s = clock.seconds(finish - start)};
}

void MpiPingpong::report(const PairTime& pair_time) {
  if (!Ranks::get().leads()) {
    MPI_Send(&pair_time, sizeof pair_time, MPI_BYTE, 0, kReport, MPI_COMM_WORLD);
    return;
  }
  for (int i = 0; i < pairing_.pairs; ++i) {
    PairTime& time = times_[static_cast<std::size_t>(i)];
    const int first = first_of(pairing_, i);
    if (first == 0) {
      time = pair_time;
    } else {
      receive_asleep(&time, sizeof time, first, kReport);
    }
  }
}

Work MpiPingpong::work_of(std::uint64_t repetitions, Ticks start) {
  const Clock& clock = Clock::get();
  workers_.clear();
  for (const PairTime& time : times_) {
    const Ticks begun = start + clock.ticks(time.start_s);
    workers_.push_back({.start = begun,
                        .finish = begun + clock.ticks(time.elapsed_s),
                        .bytes = 2 * repetitions * static_cast<std::uint64_t>(size_bytes_),
                        .ops = 2 * repetitions});
  }
  const auto pairs = static_cast<std::uint64_t>(pairing_.pairs);
  return {.bytes = pairs * workers_.front().bytes,
          .ops = pairs * workers_.front().ops,
          .workers = workers_,
          .counters = {&line_round_trip_s_, 1}};
}

ProbeInfo info() {
  return {
      .name = "mpi_pingpong",
      .summary = "time of MPI messages by size, with one or several pairs of ranks at once",
      .parameters = {size("size", "message size", 0, kLargestMessage, "8"),
                     choice("data",
                            "unchanged: both ranks send the same bytes each time, as OSU and IMB; echo: the answer is "
                            "what was received; fresh: both write a message before they send it",
                            {"unchanged", "echo", "fresh"}, "unchanged"),
                     integer("pairs", "pairs of ranks that exchange messages at once", 1, kMaxPairs, "1"),
                     choice("pairing",
                            "which rank with which: block: i with i + half; mirrored: i with the i-th from the end; "
                            "adjacent: 2i with 2i + 1; random: drawn from seed",
                            {"block", "mirrored", "adjacent", "random"}, "block"),
                     integer("seed", "seed of the random pairing", 0, kMaxPairs, "1")},
      .counters = {{"line_round_trip_s", "s",
                    "round trip of a cache line between the CPUs of a pair on one node, the farthest one; 0 if none is "
                    "there, or if MPI cannot share memory on the node",
                    Combine::last}},
      .facts = {{"ranks", "", "ranks of the job"},
                {"nodes", "", "number of nodes that they run on"},
                {"pairs_between_nodes", "", "pairs whose ranks run on two nodes"}},
      .needs = {"an MPI launcher"},
      .reports_workers = true};
}

const DistributedRegistration<MpiPingpong> kRegistration(info);

}  // namespace

}  // namespace nameplate::mpi_pingpong
