// What it measures: the time of a message of a given size between every two nodes of an MPI job, or every two ranks.
//
// Why that is valid: all parties meet each other once in a round-robin tournament, so that none has two partners at a
// time and all links are in use at once, as in a program that exchanges with all others. A pair sends a message back
// and forth, and the rank that starts times a whole batch by its own clock. Ranks that have no partner, or are done,
// sleep until the next round; then all start together, after one exchange that is not timed. The last answer of each
// pair is compared with what was sent.
//
// What it does not show: a pair that has the network to itself (mpi_pingpong pairs=1), since the other pairs of its
// round communicate too; one direction alone, since the time is half of a round trip.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "cluster/tournament.h"
#include "measure/clock.h"
#include "mpi/distributed.h"
#include "mpi/message.h"
#include "mpi/tree.h"
#include "probe/error.h"

namespace nameplate::mpi_pairs {

namespace {

constexpr double kLargestMessage = 0x1p30;
constexpr int kIntroduction = 0;

// Identifies a rank in messages about wrong answers.
struct Introduction {
  int rank = 0;
  std::array<char, 65> host{};
};

class MpiPairs final : public DistributedProbe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override;
  void connect() override;
  Work run(std::uint64_t repetitions) override;

  void verify() override {
    if (!distorter_) return;
    wrong_result(
        fmt::format("the answer of rank {} on {} differs from the message", distorter_->rank, distorter_->host.data()));
  }

  void teardown() override {
    if (among_ != MPI_COMM_NULL) MPI_Comm_free(&among_);
  }

 private:
  void play(int round, std::uint64_t repetitions);
  double exchange_s(int other, std::uint64_t repetitions);
  Introduction introduced(int other) const;
  void gather();
  Work work_of(std::uint64_t repetitions, Ticks start);
  double slowest_s(int round) const;

  int size_bytes_ = 0;
  bool takes_part_ = false;
  Introduction self_;
  Message message_;
  MPI_Comm among_ = MPI_COMM_NULL;  // all that take part
  int parties_ = 0;
  int party_ = 0;            // among them
  std::vector<double> row_;  // seconds of a message to each party after this one
  std::optional<Introduction> distorter_;
  std::vector<double> pairs_;  // on the leading rank: the rows of all
  Worker worker_;
};

Prepared MpiPairs::setup(const Parameters& parameters, const Machine& /*machine*/) {
  const Ranks& ranks = Ranks::get();
  const bool is_between_nodes = parameters.word("between") == "nodes";
  takes_part_ = !is_between_nodes || ranks.local_rank() == 0;
  size_bytes_ = static_cast<int>(parameters.count("size"));
  self_ = {.rank = ranks.rank(), .host = read_node_identity().host};
  if (takes_part_) message_ = Message(size_bytes_, Data::echo);
  Prepared prepared{.resolved = parameters};
  if (!ranks.leads()) return prepared;
  const auto nodes = static_cast<int>(ranks.nodes().size());
  const std::string why_not = objection(nodes, ranks.size(), is_between_nodes);
  if (!why_not.empty()) refuse(why_not);
  const int parties = is_between_nodes ? nodes : ranks.size();
  int within_nodes = 0;
  if (!is_between_nodes) {
    for (const NodeRecord& node : ranks.nodes()) within_nodes += pairs_of(node.ranks);
  }
  prepared.batches = static_cast<std::uint64_t>(rounds_of(parties));
  prepared.facts = {{"parties", static_cast<double>(parties)},
                    {"nodes", static_cast<double>(nodes)},
                    {"pairs_between_nodes", static_cast<double>(pairs_of(parties) - within_nodes)}};
  return prepared;
}

void MpiPairs::connect() {
  const Ranks& ranks = Ranks::get();
  MPI_Comm_split(MPI_COMM_WORLD, takes_part_ ? 0 : MPI_UNDEFINED, ranks.rank(), &among_);
  if (!takes_part_) return;
  MPI_Comm_size(among_, &parties_);
  MPI_Comm_rank(among_, &party_);
  row_.resize(static_cast<std::size_t>(parties_ - 1 - party_));
  if (ranks.leads()) pairs_.resize(static_cast<std::size_t>(pairs_of(parties_)));
}

Work MpiPairs::run(std::uint64_t repetitions) {
  if (!takes_part_) return {};
  const Ticks start = Clock::now();
  for (int round = 0; round < rounds_of(parties_); ++round) play(round, repetitions);
  gather();
  return Ranks::get().leads() ? work_of(repetitions, start) : Work{};
}

void MpiPairs::play(int round, std::uint64_t repetitions) {
  // The first barrier lets early ranks sleep; the second one ends simultaneously, as the first one does not.
  barrier_asleep(among_);
  MPI_Barrier(among_);
  const std::optional<int> other = opponent(parties_, round, party_);
  if (!other) return;
  if (*other > party_) {
    row_[static_cast<std::size_t>(*other - party_ - 1)] = exchange_s(*other, repetitions);
  } else {
    introduced(*other);
    message_.answer(1 + repetitions, *other, among_);
  }
}

double MpiPairs::exchange_s(int other, std::uint64_t repetitions) {
  const Introduction partner = introduced(other);
  message_.renew();
  message_.exchange(1, other, among_);
  const Ticks start = Clock::now();
  message_.exchange(repetitions, other, among_);
  const Ticks finish = Clock::now();
  if (!message_.is_received_right()) distorter_ = partner;
  return Clock::get().seconds(finish - start) / (2.0 * static_cast<double>(repetitions));
}

Introduction MpiPairs::introduced(int other) const {
  Introduction partner;
  MPI_Sendrecv(&self_, sizeof self_, MPI_BYTE, other, kIntroduction, &partner, sizeof partner, MPI_BYTE, other,
               kIntroduction, among_, MPI_STATUS_IGNORE);
  return partner;
}

void MpiPairs::gather() {
  std::vector<int> lengths;
  std::vector<int> places;
  if (Ranks::get().leads()) {
    for (int party = 0; party < parties_; ++party) {
      lengths.push_back(parties_ - 1 - party);
      places.push_back(static_cast<int>(pair_index(parties_, party, party + 1)));
    }
  }
  MPI_Gatherv(row_.data(), static_cast<int>(row_.size()), MPI_DOUBLE, pairs_.data(), lengths.data(), places.data(),
              MPI_DOUBLE, 0, among_);
}

// The time with messages in flight: for each round that of the slowest pair.
Work MpiPairs::work_of(std::uint64_t repetitions, Ticks start) {
  double elapsed_s = 0;
  for (int round = 0; round < rounds_of(parties_); ++round) elapsed_s += slowest_s(round);
  const std::uint64_t messages = 2 * repetitions;
  const std::uint64_t all_messages = messages * pairs_.size();
  worker_ = {.start = start,
             .finish = start + Clock::get().ticks(elapsed_s * static_cast<double>(messages)),
             .bytes = all_messages * static_cast<std::uint64_t>(size_bytes_),
             .ops = all_messages};
  return {.bytes = worker_.bytes, .ops = worker_.ops, .workers = {&worker_, 1}, .pairs = pairs_};
}

double MpiPairs::slowest_s(int round) const {
  double slowest_s = 0;
  for (int party = 0; party < parties_; ++party) {
    const std::optional<int> other = opponent(parties_, round, party);
    if (other) slowest_s = std::max(slowest_s, pairs_[pair_index(parties_, party, *other)]);
  }
  return slowest_s;
}

ProbeInfo info() {
  return {.name = "mpi_pairs",
          .summary = "time of MPI messages between all pairs of nodes or ranks",
          .parameters = {choice("between", "nodes: the first rank of each; ranks: all of the job; at most 1,024",
                                {"nodes", "ranks"}, "nodes"),
                         size("size", "message size", 0, kLargestMessage, "8")},
          .counters = {},
          .facts = {{"parties", "", "number of nodes or ranks that exchanged messages"},
                    {"nodes", "", "number of nodes that they run on"},
                    {"pairs_between_nodes", "", "pairs whose ranks run on two nodes"}},
          .needs = {"an MPI launcher"}};
}

const DistributedRegistration<MpiPairs> kRegistration(info);

}  // namespace

}  // namespace nameplate::mpi_pairs
