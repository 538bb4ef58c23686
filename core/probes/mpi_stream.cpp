// What it measures: the memory bandwidth of every node at once, for STREAM's copy, scale, add and triad, and for
// reading and writing alone, on all ranks of an MPI job with OpenMP threads in each, as hybrid programs run. The memory
// is ordinary memory, or that of a mount of persistent memory.
//
// Why that is valid: the ranks of a node start each repeat after a barrier of that node, so a node's bandwidth is what
// all of it delivered from the first rank's start to the last one's finish, by one clock; the first repeat is left out;
// arrays are four times the node's last-level caches, touched first by the threads that use them; every element is
// compared with plain scalar code afterwards.
//
// What it does not show: what one core reaches alone (memory_stream), or how nodes depend on each other: they do not
// communicate.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cluster/active_ranks.h"
#include "cluster/repeats.h"
#include "disk/array_memory.h"
#include "measure/clock.h"
#include "measure/team.h"
#include "mpi/distributed.h"
#include "mpi/steps.h"
#include "mpi/tree.h"
#include "probe/error.h"
#include "workloads/memory_probe.h"
#include "workloads/stream_task.h"

namespace nameplate::mpi_stream {

namespace {

constexpr double kMaxRepeats = 1e6;
constexpr double kMaxThreads = 4096;
constexpr double kMaxRanksPerNode = 4096;
constexpr std::int64_t kLine = 64;
constexpr int kReport = 3;

class MpiStream final : public DistributedProbe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override;
  void connect() override;
  Work run(std::uint64_t repetitions) override;

  void verify() override {
    if (task_) task_->verify();
  }

  void teardown() override {
    if (node_ != MPI_COMM_NULL) MPI_Comm_free(&node_);
  }

 private:
  void set_up_memory(const Parameters& parameters, const Machine& machine, std::int64_t size, std::int64_t threads);
  void require_same_memory() const;
  void measure_repeats();
  void report();
  void gather_nodes();

  ArrayMemory memory_;
  std::unique_ptr<Team> team_;
  std::unique_ptr<StreamTask> task_;
  MPI_Comm node_ = MPI_COMM_NULL;
  int active_ranks_ = 1;  // of this node
  int node_rank_ = 0;     // among them
  std::vector<RepeatTicks> rank_ticks_;
  std::vector<RepeatTicks> all_;  // on the node's first rank
  NodeTimes node_times_;          // on the node's first rank
  std::vector<NodeTimes> nodes_;  // on the leading rank
  std::vector<Worker> workers_;
};

// Returns how many of the node's ranks take part.
int active_ranks(const Parameters& parameters) {
  const int started = Ranks::get().ranks_on_node();
  const auto asked = parameters.count_if_given("ranks_per_node").value_or(started);
  if (asked > started) {
    refuse(fmt::format("ranks_per_node={} is more than the {} ranks that the launcher started on this node", asked,
                       started));
  }
  return static_cast<int>(asked);
}

// Of the whole job, on the leading rank, which alone knows the nodes.
int active_ranks_of_job(const Parameters& parameters) {
  const Ranks& job = Ranks::get();
  const auto asked = parameters.count_if_given("ranks_per_node");
  return asked ? static_cast<int>(*asked) * static_cast<int>(job.nodes().size()) : job.size();
}

Prepared MpiStream::setup(const Parameters& parameters, const Machine& machine) {
  active_ranks_ = active_ranks(parameters);
  const auto threads = parameters.count_if_given("threads").value_or(openmp_threads());
  const std::int64_t share = memory_array_bytes(machine) / active_ranks_ / kLine * kLine;
  const std::int64_t size = parameters.count_if_given("size").value_or(std::max(kLine, share));
  if (!takes_part(Ranks::get().local_rank(), Ranks::get().ranks_on_node(), active_ranks_)) return {};
  set_up_memory(parameters, machine, size, threads);
  const auto touched = static_cast<std::int64_t>(task_->total_bytes()) * active_ranks_;
  Prepared prepared{.resolved = parameters,
                    .facts = memory_fact_values(touched, task_->huge_bytes() * active_ranks_, machine),
                    .repetitions = 1,
                    .max_repetitions = 1,
                    .warms_up = true,
                    .labels = memory_.labels()};
  prepared.labels["isa"] = to_string(task_->isa());
  prepared.facts["ranks"] = static_cast<double>(active_ranks_of_job(parameters));
  prepared.facts["nodes"] = static_cast<double>(Ranks::get().nodes().size());
  prepared.facts["bus_bytes_per_byte"] = bus_bytes_per_byte(parse_stream_op(parameters.word("op")), task_->stores());
  prepared.resolved.set("threads", threads);
  prepared.resolved.set("size", size);
  prepared.resolved.set("ranks_per_node", std::int64_t{active_ranks_});
  return prepared;
}

void MpiStream::set_up_memory(const Parameters& parameters, const Machine& machine, std::int64_t size,
                              std::int64_t threads) {
  if (size % static_cast<std::int64_t>(sizeof(double)) != 0) refuse("size must be a multiple of 8 bytes");
  const StreamOp op = parse_stream_op(parameters.word("op"));
  const std::int64_t repeats = parameters.count("repeats");
  memory_ = ArrayMemory(parameters, machine);
  memory_.require_room(arrays_of(op) * size * active_ranks_, machine,
                       fmt::format("size={} on {} ranks", size, active_ranks_));
  const std::int64_t thread_elements = size / static_cast<std::int64_t>(sizeof(double)) / threads;
  memory_.require_time(static_cast<double>(thread_elements * (repeats + 1)));
  team_ = make_team("openmp", static_cast<unsigned>(threads), machine.topology.allowed);
  StreamSettings settings{.op = op,
                          .stores = parameters.word("stores") == "plain" ? Stores::plain : Stores::nontemporal,
                          .array_bytes = static_cast<std::size_t>(size),
                          .pages = parse_pages(parameters.word("pages"))};
  memory_.apply(settings);
  task_ = make_stream_task("fp64", settings, *team_);
  rank_ticks_.resize(static_cast<std::size_t>(repeats));
}

void MpiStream::connect() {
  MPI_Comm full_node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, Ranks::get().rank(), MPI_INFO_NULL, &full_node);
  MPI_Comm_split(full_node, task_ ? 0 : MPI_UNDEFINED, Ranks::get().rank(), &node_);
  MPI_Comm_free(&full_node);
  if (task_) {
    MPI_Comm_rank(node_, &node_rank_);
    if (node_rank_ == 0) all_.resize(rank_ticks_.size() * static_cast<std::size_t>(active_ranks_));
  }
  require_same_memory();
}

// A mount that is missing on one node leaves an ordinary directory, and a value over both kinds would be meaningless.
void MpiStream::require_same_memory() const {
  std::map<std::string, std::string> labels = memory_.labels();
  labels.erase("path");
  const std::string description = fmt::format("{}", fmt::join(labels, ", "));
  std::array<char, 128> first{};
  description.copy(first.data(), first.size() - 1);
  broadcast_asleep(first.data(), first.size());
  run_collectively([&] {
    if (task_ && description != first.data())
      refuse(fmt::format("its memory is {}, the first rank's {}", description, first.data()));
  });
}

Work MpiStream::run(std::uint64_t /*repetitions*/) {
  // A rank that takes no part sleeps until the leading rank sends the next command.
  if (!task_) return {};
  const Ticks start = Clock::now();
  measure_repeats();
  report();
  if (!Ranks::get().leads()) return {};
  gather_nodes();
  const Clock& clock = Clock::get();
  workers_.clear();
  Work work{};
  for (const NodeTimes& node : nodes_) {
    const std::uint64_t bytes = node.bytes_in_repeat * node.repeats;
    workers_.push_back(
        {.start = start, .finish = start + clock.ticks(node.window_s.average * node.repeats), .bytes = bytes});
    work.bytes += bytes;
  }
  work.workers = workers_;
  work.nodes = nodes_;
  return work;
}

// One more than requested: the first one is left out.
void MpiStream::measure_repeats() {
  for (std::size_t i = 0; i <= rank_ticks_.size(); ++i) {
    MPI_Barrier(node_);
    const std::span<Worker> workers = task_->run(1);
    if (i == 0) continue;
    rank_ticks_[i - 1] = {.start = std::ranges::min(workers, {}, &Worker::start).start,
                          .finish = std::ranges::max(workers, {}, &Worker::finish).finish};
  }
}

// Reports to the node's first rank, which reports to the leading rank.
void MpiStream::report() {
  const auto bytes = static_cast<int>(rank_ticks_.size() * sizeof rank_ticks_[0]);
  MPI_Gather(rank_ticks_.data(), bytes, MPI_BYTE, all_.data(), bytes, MPI_BYTE, 0, node_);
  if (node_rank_ != 0) return;
  const auto ranks = static_cast<unsigned>(active_ranks_);
  node_times_ = summarised(all_, ranks, task_->bytes_in_pass() * ranks, Clock::get().seconds(1));
  if (!Ranks::get().leads()) {
    MPI_Send(&node_times_, sizeof node_times_, MPI_BYTE, 0, kReport, MPI_COMM_WORLD);
  }
}

void MpiStream::gather_nodes() {
  const std::vector<NodeRecord>& records = Ranks::get().nodes();
  nodes_.resize(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].first_rank == 0) {
      nodes_[i] = node_times_;
    } else {
      receive_asleep(&nodes_[i], sizeof nodes_[i], records[i].first_rank, kReport);
    }
  }
}

ProbeInfo info() {
  std::vector<Fact> facts = memory_facts();
  facts.push_back({"ranks", "", "ranks of the job that take part"});
  facts.push_back({"nodes", "", "number of nodes that they run on"});
  facts.push_back({"bus_bytes_per_byte", "", "bytes moved on the bus per user byte"});
  std::vector<Parameter> parameters = {
      choice("op", "copy c=a, scale b=qc, add c=a+b, triad a=b+qc, read a, write a=q",
             {"copy", "scale", "add", "triad", "read", "write"}, "triad"),
      choice("stores", "plain, or bypassing the caches", {"plain", "nontemporal"}, "plain"),
      integer("repeats", "repeats per sample, after one that is left out", 2, kMaxRepeats, "10"),
      automatic_integer("threads", "OpenMP threads per rank", 1, kMaxThreads, "as OMP_NUM_THREADS says"),
      automatic_integer("ranks_per_node", "ranks of each node, evenly spaced, that take part; the others sleep", 1,
                        kMaxRanksPerNode, "all that the launcher started"),
      automatic_size("size", "size of each array of each rank", 64, kLargestRegion,
                     "four times the node's last-level caches, divided by its ranks"),
      pages_parameter()};
  std::ranges::move(array_memory_parameters(), std::back_inserter(parameters));
  return {.name = "mpi_stream",
          .summary = "memory bandwidth of all nodes at once: STREAM on MPI ranks with OpenMP threads",
          .parameters = std::move(parameters),
          .counters = {},
          .facts = std::move(facts),
          .needs = {"an MPI launcher", "OpenMP"},
          .reports_workers = true};
}

const DistributedRegistration<MpiStream> kRegistration(info);

}  // namespace

}  // namespace nameplate::mpi_stream
