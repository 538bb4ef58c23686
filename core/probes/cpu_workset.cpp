// What it measures: the floating-point rate of a loop with seven operations per element, by size of its data. The rate
// falls where a cache level ends.
//
// Why that is valid: the loop repeatedly passes over its two arrays, so data that fit a cache stay there; operands are
// exact, so every result is compared bit for bit; pages are huge, so that the reach of a translation buffer is not
// mistaken for the end of a cache.
//
// What it does not show: the peak rate (cpu_flops), or the bandwidth of a level (memory_stream with a small size=):
// arithmetic may limit the loop where a cache could deliver more.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/workset.h"
#include "machine/memory_budget.h"
#include "measure/team.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "workloads/memory_probe.h"

namespace nameplate::cpu_workset {

namespace {

constexpr double kSmallestSize = 2 * kWorksetGroup * sizeof(double);

// One worker's arrays, x behind y in one region.
struct alignas(kLine) Set {
  Buffer memory;
  double* x = nullptr;
  double* y = nullptr;
};

class CpuWorkset final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    const auto threads = parameters.count("threads");
    const std::int64_t size = parameters.count("size");
    pages_ = parse_pages(parameters.word("pages"));
    // Half of it each, in whole groups: a size of the study's grid is not always a multiple.
    count_ = static_cast<std::size_t>(size) / (2 * sizeof(double)) / kWorksetGroup * kWorksetGroup;
    require_memory(size * threads, machine, fmt::format("size={} for {} threads", size, threads));
    const Isa isa = widest_vector_isa();
    loop_ = parameters.word("build") == "plain" ? plain_workset_loop() : vector_workset_loop(isa);
    team_ = make_thread_team(static_cast<unsigned>(threads), machine.topology.allowed);
    sets_ = std::vector<Set>(static_cast<std::size_t>(threads));
    team_->run_untimed([this](unsigned worker) { fill(sets_[worker]); });
    std::int64_t huge_bytes = 0;
    for (const Set& set : sets_) huge_bytes += set.memory.huge_bytes();
    const auto touched = static_cast<std::int64_t>(2 * sizeof(double) * count_ * sets_.size());
    return {.resolved = parameters, .facts = memory_fact_values(touched, huge_bytes, machine)};
  }

  Work run(std::uint64_t repetitions) override {
    passes_ = repetitions;
    const std::span<Worker> workers = team_->run(work_);
    const std::uint64_t flops = repetitions * count_ / kWorksetGroup * kWorksetFlops;
    const std::uint64_t bytes = repetitions * count_ * 2 * sizeof(double);
    for (Worker& worker : workers) {
      worker.flops = flops;
      worker.bytes = bytes;
    }
    return {.bytes = bytes * workers.size(), .flops = flops * workers.size(), .workers = workers};
  }

  void verify() override {
    team_->run_untimed([this](unsigned worker) { verify_set(worker); });
  }

 private:
  void fill(Set& set) const {
    set.memory = Buffer(2 * count_ * sizeof(double), pages_);
    set.y = set.memory.as<double>().data();
    set.x = set.y + count_;
    for (std::size_t i = 0; i < count_; ++i) set.y[i] = workset_operand(i);
    std::fill_n(set.x, count_, -1.0);
  }

  void verify_set(unsigned worker) const {
    const Set& set = sets_[worker];
    for (std::size_t i = 0; i < count_; ++i) {
      if (set.y[i] != workset_operand(i)) {
        wrong_result(fmt::format("worker {}: y[{}] is {}, but was {}", worker, i, set.y[i], workset_operand(i)));
      }
      if (set.x[i] != workset_result(i)) {
        wrong_result(fmt::format("worker {}: x[{}] is {}, but should be {}", worker, i, set.x[i], workset_result(i)));
      }
    }
  }

  Pages pages_ = Pages::huge;
  std::size_t count_ = 0;
  WorksetLoop loop_ = nullptr;
  std::unique_ptr<Team> team_;
  std::vector<Set> sets_;
  std::uint64_t passes_ = 0;
  Team::Function work_ = [this](unsigned worker) {
    const Set& set = sets_[worker];
    loop_(set.x, set.y, count_, passes_);
  };
};

ProbeInfo info() {
  Parameter threads = threads_parameter();
  threads.default_value = "1";
  return {.name = "cpu_workset",
          .summary = "floating-point rate by size of the working set, which shows where the caches end",
          .parameters = {size("size", "size of the working set of each thread, both arrays together", kSmallestSize,
                              kLargestRegion, "16KiB"),
                         threads,
                         choice("build", "vector: vectorised loop; plain: C++ that compiles to scalar instructions",
                                {"vector", "plain"}, "vector"),
                         pages_parameter()},
          .counters = {},
          .facts = memory_facts(),
          .needs = {},
          .reports_workers = true};
}

const Registration<CpuWorkset> kRegistration(info);

}  // namespace

}  // namespace nameplate::cpu_workset
