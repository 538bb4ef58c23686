// What it measures: the bandwidth of memory, or of a cache if the arrays are small, for STREAM's copy, scale, add and
// triad and for reading, writing and updating in place, on any number of threads.
//
// Why that is valid: arrays are by default four times all last-level caches, every thread touches its own part first,
// the stores are as requested (plain or bypassing the caches) and not chosen by a compiler, and every element is
// compared with plain scalar code afterwards.
//
// What it does not show: the rate of scattered accesses (memory_block), or the latency of one (memory_latency). What
// the bus moves beyond the user's bytes is computed by rule, not observed: some CPUs avoid reading a line that is about
// to be overwritten.

#include <fmt/format.h>

#include "machine/memory_budget.h"
#include "machine/numa.h"
#include "measure/line_transfer.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "workloads/memory_probe.h"
#include "workloads/stream_task.h"

namespace nameplate::memory_stream {

namespace {

constexpr double kMaxNodes = 1023;
constexpr std::size_t kStep_bytes = 1U << 20U;  // of each thread's part of an array

std::optional<Stores> parse_stores(const std::string& name) {
  if (name == "best") return std::nullopt;
  return name == "plain" ? Stores::plain : Stores::nontemporal;
}

std::optional<unsigned> node_if_given(const Parameters& parameters, const std::string& name) {
  const auto node = parameters.count_if_given(name);
  return node ? std::optional(static_cast<unsigned>(*node)) : std::nullopt;
}

// Arrays of whole elements, and blocks of whole elements in them.
void check_sizes(const StreamSettings& settings, const std::string& precision) {
  const std::size_t element = element_bytes(precision);
  if (settings.array_bytes % element != 0 || settings.block_bytes % element != 0) {
    refuse(fmt::format("size and block must be multiples of {} bytes for precision={}", element, precision));
  }
  if (settings.random_blocks && settings.block_bytes == 0) refuse("pattern=random needs block=, such as block=4KiB");
}

class MemoryStream final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const std::string& precision = parameters.word("precision");
    const auto node = node_if_given(parameters, "node");
    const auto memory_node = node_if_given(parameters, "memory_node");
    const Placement placement = node ? placement_on(machine.topology, *node) : machine.topology.allowed;
    if (memory_node) require_memory_on(machine.topology, *memory_node);
    const auto threads =
        parameters.count_if_given("threads").value_or(node ? placement.cores : machine.default_threads());
    const std::int64_t size = parameters.count_if_given("size").value_or(memory_array_bytes(machine));
    settings_ = {.op = parse_stream_op(parameters.word("op")),
                 .stores = parse_stores(parameters.word("stores")),
                 .array_bytes = static_cast<std::size_t>(size),
                 .block_bytes = static_cast<std::size_t>(parameters.count_if_given("block").value_or(0)),
                 .random_blocks = parameters.word("pattern") == "random",
                 .step_bytes = parameters.word("unit") == "step" ? kStep_bytes : 0,
                 .pages = parse_pages(parameters.word("pages")),
                 .memory_node = memory_node};
    check_sizes(settings_, precision);
    require_memory(size * arrays_of(settings_.op), machine, fmt::format("size={}", size));
    team_ = make_thread_team(static_cast<unsigned>(threads), placement);
    task_ = make_stream_task(precision, settings_, *team_);
    return describe(parameters, machine, threads, size);
  }

  Work run(std::uint64_t repetitions) override {
    const std::span<Worker> workers = task_->run(repetitions);
    std::uint64_t bytes = 0;
    for (const Worker& worker : workers) bytes += worker.bytes;
    return {.bytes = bytes, .workers = workers};
  }

  void verify() override { task_->verify(); }

 private:
  Prepared describe(const Parameters& parameters, const Machine& machine, std::int64_t threads,
                    std::int64_t size) const {
    Prepared prepared{
        .resolved = parameters,
        .facts = memory_fact_values(static_cast<std::int64_t>(task_->total_bytes()), task_->huge_bytes(), machine)};
    prepared.facts["pass_bytes"] = static_cast<double>(task_->bytes_in_pass());
    prepared.facts["bus_bytes_per_byte"] = bus_bytes_per_byte(settings_.op, task_->stores());
    prepared.facts["nontemporal"] = task_->stores() == Stores::nontemporal ? 1 : 0;
    prepared.facts["line_round_trip_s"] = farthest_round_trip_s(*team_);
    prepared.labels = {{"isa", to_string(task_->isa())}};
    prepared.resolved.set("threads", threads);
    prepared.resolved.set("size", size);
    return prepared;
  }

  StreamSettings settings_;
  std::unique_ptr<Team> team_;
  std::unique_ptr<StreamTask> task_;
};

ProbeInfo info() {
  std::vector<Fact> facts = memory_facts();
  facts.push_back({"pass_bytes", "B", "the user's bytes in one pass over the arrays"});
  facts.push_back({"bus_bytes_per_byte", "",
                   "bytes moved on the bus per user byte: more than 1 if a line is read in order to "
                   "be written"});
  facts.push_back({"nontemporal", "", "1 if the stores bypassed the caches, else 0"});
  facts.push_back(line_fact());
  Parameter node = integer("node", "NUMA node on whose CPUs the threads run", 0, kMaxNodes, "");
  node.default_value = std::nullopt;
  node.automatic = "all allowed ones";
  Parameter memory_node = node;
  memory_node.name = "memory_node";
  memory_node.summary = "NUMA node of the memory";
  memory_node.automatic = "the node of each thread, by first touch";
  return {
      .name = "memory_stream",
      .summary = "bandwidth of memory and caches: STREAM's copy, scale, add, triad, and read, write, update",
      .parameters = {choice("op", "copy c=a, scale b=qc, add c=a+b, triad a=b+qc, read a, write a=q, update a=qa",
                            stream_op_names(), "triad"),
                     choice("stores",
                            "plain, bypassing the caches (nontemporal), or whichever is faster in a trial "
                            "(best)",
                            {"plain", "nontemporal", "best"}, "plain"),
                     choice("precision", "type of the elements", {"fp64", "fp32"}, "fp64"), threads_parameter(),
                     automatic_size("size", "size of each array", 64, kLargestRegion,
                                    "four times all last-level caches, at least 64 MiB"),
                     automatic_size("block", "size of the blocks in which a thread passes over its part", 4,
                                    kLargestRegion, "the whole part at once"),
                     choice("pattern", "order of the blocks", {"sequential", "random"}, "sequential"),
                     choice("unit",
                            "what a sample consists of: whole passes over the arrays, as STREAM times them, or steps "
                            "of 1 MiB of each thread's part, so that samples of large arrays can be short",
                            {"pass", "step"}, "pass"),
                     pages_parameter(), node, memory_node},
      .counters = {},
      .facts = std::move(facts),
      .needs = {},
      .reports_workers = true};
}

const Registration<MemoryStream> kRegistration(info);

}  // namespace

}  // namespace nameplate::memory_stream
