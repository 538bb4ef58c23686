// What it measures: the time of a load whose address is known only after the previous load, in a region of any size:
// from the caches to memory, with one or several such chains, alone or while other threads read.
//
// Why that is valid: the loads follow one random cycle through the whole region, so no prefetcher predicts them and no
// line is visited twice before all others; every stop has its number, so that the end of the walk proves its length.
//
// What it does not show: the cost of a miss in the page tables apart from that of the line itself (compare pages=huge
// and small, or stride=4KiB), or of a store. At a stride of one line, hardware that fetches lines in pairs makes memory
// look faster.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "kernels/stream.h"
#include "machine/memory_budget.h"
#include "measure/clock.h"
#include "measure/team.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "workloads/chase_cycle.h"
#include "workloads/memory_probe.h"

namespace nameplate::memory_latency {

namespace {

constexpr std::size_t kSmallestSize = 2 * kLine;
constexpr std::uint64_t kMaxWarmingStops = (std::uint64_t{64} << 20U) / kLine;
constexpr std::size_t kStopsOfMaker = 1U << 16U;  // starting a thread pays off for some milliseconds
constexpr std::size_t kLoadChunk = 16 << 10;
constexpr double kMaxLoadThreads = 4095;

// The other threads each read a part of their own, at a rate controlled by the clock.
struct alignas(kLine) Reader {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
};

class MemoryLatency final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    read_parameters(parameters, machine);
    const std::int64_t load_region = load_bytes_per_s_ > 0 ? memory_array_bytes(machine) : 0;
    require_memory(static_cast<std::int64_t>(size_) + load_region, machine, fmt::format("size={}", size_));
    team_ = make_thread_team(1 + load_threads_, machine.topology.allowed);
    make_cycle(machine);
    std::ranges::copy(cycle_->starts(), walkers_.begin());
    if (load_region > 0) make_load(static_cast<std::size_t>(load_region));
    // The warm-up leaves the caches in the state of the walk: once around, or until they are full of visited lines.
    walk(std::min(cycle_->stops(), kMaxWarmingStops) / kChaseUnroll);
    return describe(parameters, machine);
  }

  Work run(std::uint64_t repetitions) override {
    rounds_ = repetitions;
    done_.store(false, std::memory_order_relaxed);
    const std::span<Worker> workers = team_->run(work_);
    workers[0].ops = repetitions * kChaseUnroll * chains_;
    workers[0].bytes = 0;
    counters_[0] = 0;
    for (const Reader& reader : readers_) counters_[0] += static_cast<double>(reader.bytes);
    // The other threads read until the walk is over, since its time is what counts.
    return {.ops = workers[0].ops, .workers = workers.first(1), .counters = counters_};
  }

  void verify() override {
    cycle_->verify();
    for (unsigned i = 0; i < chains_; ++i) {
      const std::uint64_t expected = (cycle_->starts()[i]->ordinal + steps_) % cycle_->stops();
      if (walkers_.at(i)->ordinal != expected) {
        wrong_result(fmt::format("chain {} is at stop {} of {} after {} steps, but should be at {}", i,
                                 walkers_.at(i)->ordinal, cycle_->stops(), steps_, expected));
      }
    }
  }

 private:
  void read_parameters(const Parameters& parameters, const Machine& machine) {
    size_ = static_cast<std::size_t>(parameters.count("size"));
    stride_ = static_cast<std::size_t>(parameters.count("stride"));
    chains_ = static_cast<unsigned>(parameters.count("chains"));
    pages_ = parse_pages(parameters.word("pages"));
    load_bytes_per_s_ = static_cast<double>(parameters.count("load"));
    if (stride_ % kLine != 0) refuse("stride must be a multiple of a cache line, 64 bytes");
    if (size_ / stride_ < 2) refuse(fmt::format("size={} is less than two strides of {} bytes", size_, stride_));
    const unsigned other_threads = std::max(1U, machine.default_threads() - 1);
    const auto given = parameters.count_if_given("load_threads");
    load_threads_ = load_bytes_per_s_ > 0 ? static_cast<unsigned>(given.value_or(other_threads)) : 0;
  }

  // With all cores: a cycle through a gigabyte takes one of them a second.
  void make_cycle(const Machine& machine) {
    const auto most = static_cast<std::size_t>(machine.default_threads());
    const std::size_t makers = std::clamp<std::size_t>(size_ / stride_ / kStopsOfMaker, 1, most);
    const auto team = make_thread_team(static_cast<unsigned>(makers), machine.topology.allowed);
    cycle_.emplace(size_, stride_, pages_, chains_, *team);
  }

  void walk(std::uint64_t rounds) {
    chase_loop(chains_)(walkers_.data(), rounds);
    steps_ += rounds * kChaseUnroll;
  }

  void make_load(std::size_t region) {
    load_memory_ = Buffer(region, Pages::huge);
    load_loop_ = stream_loop<double>(widest_vector_isa(), StreamOp::read, Stores::plain);
    readers_.resize(load_threads_);
    for (unsigned i = 0; i < load_threads_; ++i) {
      readers_[i].first = region * i / load_threads_ / kLoadChunk * kLoadChunk;
      readers_[i].end = region * (i + 1) / load_threads_ / kLoadChunk * kLoadChunk;
      readers_[i].at = readers_[i].first;
    }
    team_->run_untimed([this](unsigned worker) {
      if (worker > 0) load_memory_.touch(readers_[worker - 1].first, readers_[worker - 1].end);
    });
  }

  void work(unsigned worker) {
    if (worker > 0) {
      read_on(readers_[worker - 1]);
      return;
    }
    walk(rounds_);
    done_.store(true, std::memory_order_relaxed);
  }

  void read_on(Reader& reader) {
    const Ticks start = Clock::now();
    const Ticks chunk_ticks =
        Clock::get().ticks(static_cast<double>(kLoadChunk) * static_cast<double>(load_threads_) / load_bytes_per_s_);
    std::uint64_t chunks = 0;
    std::uint64_t sum = 0;
    for (; !done_.load(std::memory_order_relaxed); ++chunks) {
      auto* const at = reinterpret_cast<double*>(load_memory_.data() + reader.at);  // NOLINT: whole pages of numbers
      sum += load_loop_({.a = at}, 0, kLoadChunk / sizeof(double), 1);
      reader.at += kLoadChunk;
      if (reader.at == reader.end) reader.at = reader.first;
      const Ticks next = start + (chunks + 1) * chunk_ticks;
      while (Clock::now() < next && !done_.load(std::memory_order_relaxed)) {
      }
    }
    reader.bytes = chunks * kLoadChunk;
    reader.sum = sum;
  }

  Prepared describe(const Parameters& parameters, const Machine& machine) const {
    Prepared prepared{.resolved = parameters,
                      .facts = memory_fact_values(static_cast<std::int64_t>(cycle_->stops() * stride_),
                                                  cycle_->memory().huge_bytes(), machine)};
    prepared.facts["line_bytes"] = static_cast<double>(cycle_->stops() * kLine);
    prepared.resolved.set("load_threads", static_cast<std::int64_t>(load_threads_));
    return prepared;
  }

  std::size_t size_ = 0;
  std::size_t stride_ = 0;
  unsigned chains_ = 1;
  Pages pages_ = Pages::huge;
  double load_bytes_per_s_ = 0;
  unsigned load_threads_ = 0;
  std::unique_ptr<Team> team_;
  std::optional<ChaseCycle> cycle_;
  std::array<const ChaseStop*, kMaxChains> walkers_{};
  std::uint64_t rounds_ = 0;
  std::uint64_t steps_ = 0;
  Buffer load_memory_;
  StreamLoop<double> load_loop_ = nullptr;
  std::vector<Reader> readers_;
  alignas(kLine) std::atomic<bool> done_ = false;
  std::array<double, 1> counters_{};
  Team::Function work_ = [this](unsigned worker) { work(worker); };
};

ProbeInfo info() {
  std::vector<Fact> facts = memory_facts();
  facts.push_back({"line_bytes", "B", "total size of the visited lines, less than the region if the stride is wide"});
  Parameter load_threads =
      integer("load_threads", "threads that read at the same time, if load= is given", 0, kMaxLoadThreads, "");
  load_threads.default_value = std::nullopt;
  load_threads.automatic = "every core but the one of the chains, at least one; none without load=";
  return {.name = "memory_latency",
          .summary = "latency of dependent loads over one random cycle through a region",
          .parameters = {size("size", "size of the region", kSmallestSize, kLargestRegion, "256MiB"),
                         size("stride", "distance of the stops: 64 for every line, 4KiB for one line per small page",
                              kLine, 0x1p30, "64"),
                         pages_parameter(), integer("chains", "concurrent cycles", 1, kMaxChains, "1"),
                         size("load", "bytes per second that other threads read at the same time, together; 0: none", 0,
                              0x1p45, "0"),
                         load_threads},
          .counters = {{"load_bytes", "B", "bytes that the other threads read at the same time", Combine::sum}},
          .facts = std::move(facts),
          .needs = {},
          .reports_workers = false};
}

const Registration<MemoryLatency> kRegistration(info);

}  // namespace

}  // namespace nameplate::memory_latency
