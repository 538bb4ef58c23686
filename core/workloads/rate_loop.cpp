#include "workloads/rate_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/clock.h"
#include "probe/error.h"

namespace nameplate {

namespace {

// Cores take a while to reach the clock that they sustain under load.
constexpr double kTuningWarmup_s = 10e-3;
constexpr double kTrial_s = 0.5e-3;
constexpr int kTrialsOfKernel = 6;

double timed(const std::function<void()>& work) {
  const Ticks start = Clock::now();
  work();
  return Clock::get().seconds(Clock::now() - start);
}

}  // namespace

RateLoop::RateLoop(std::vector<RateKernel> candidates, unsigned threads, Scaling scaling, Ends ends,
                   const Placement& placement)
    : team_(make_thread_team(threads, placement)),
      scaling_(scaling),
      ends_(ends),
      blocks_(threads),
      bursts_(threads),
      counter_values_(counters().size()),
      work_([this](unsigned worker) { work(worker); }) {
  std::size_t result_bytes = 1;
  for (const RateKernel& candidate : candidates) result_bytes = std::max(result_bytes, candidate.result_bytes);
  for (unsigned worker = 0; worker < threads; ++worker) results_.emplace_back(result_bytes, Pages::small);
  team_->run_untimed([&](unsigned worker) { results_[worker].touch(0, result_bytes); });
  tune(std::move(candidates));
  blocks_in_repetition_ =
      static_cast<std::uint64_t>(std::ceil(kStrongOperations / static_cast<double>(kernel_.operations)));
  blocks_between_bursts_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kBurstInterval_s / best_.block_s));
}

void RateLoop::tune(std::vector<RateKernel> candidates) {
  const double warmup_end = now_s() + kTuningWarmup_s;
  while (now_s() < warmup_end) candidates.front().run(results_[0].data());
  double best_rate = 0;
  for (RateKernel& candidate : candidates) {
    const Trial trial = try_out(candidate);
    const double rate = static_cast<double>(candidate.operations) / trial.block_s;
    if (rate > best_rate) {
      best_rate = rate;
      best_ = trial;
      kernel_ = candidate;
    }
  }
}

// The shortest of several trials, each next to a burst of the clock chain: what the unit can do undisturbed.
RateLoop::Trial RateLoop::try_out(const RateKernel& kernel) {
  const double first_s = timed([&] { kernel.run(results_[0].data()); });
  const auto blocks = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kTrial_s / first_s));
  Trial best{.block_s = std::numeric_limits<double>::max(), .burst_s = std::numeric_limits<double>::max()};
  for (int trial = 0; trial < kTrialsOfKernel; ++trial) {
    best.burst_s = std::min(best.burst_s, Clock::get().seconds(run_settled_burst(kernel.is_wide)));
    const double elapsed_s = timed([&] {
      for (std::uint64_t i = 0; i < blocks; ++i) kernel.run(results_[0].data());
    });
    best.block_s = std::min(best.block_s, elapsed_s / static_cast<double>(blocks));
  }
  return best;
}

std::vector<Fact> RateLoop::facts() {
  return {{"chains", "", "independent chains of dependent operations, the best of those tried"},
          {"lanes", "", "elements in a vector"},
          {"burst_cycles", "", "core cycles in one burst of the clock chain"},
          {"operations_per_instruction", "", "operations that one instruction of the mix does, averaged over the mix"},
          {"port_block_instructions", "", "instructions of the mix in the block that ports are counted with"},
          {"port_block_s", "s", "the shortest time of that block on one core"},
          {"port_burst_s", "s", "the shortest time of a burst next to it"}};
}

std::vector<Counter> RateLoop::counters() {
  return {{"burst_s", "s", "time of a burst of the clock chain under this load (lower quartile)", Combine::last}};
}

Facts RateLoop::fact_values() const {
  return {{"chains", static_cast<double>(kernel_.chains)},
          {"lanes", static_cast<double>(kernel_.lanes)},
          {"burst_cycles", static_cast<double>(kBurstCycles)},
          {"operations_per_instruction",
           static_cast<double>(kernel_.operations) / static_cast<double>(kernel_.instructions)},
          {"port_block_instructions", static_cast<double>(kernel_.instructions)},
          {"port_block_s", best_.block_s},
          {"port_burst_s", best_.burst_s}};
}

std::uint64_t RateLoop::share_of(unsigned worker) const {
  if (scaling_ == Scaling::weak) return repetitions_;
  const std::uint64_t total = repetitions_ * blocks_in_repetition_;
  return total * (worker + 1) / team_->size() - total * worker / team_->size();
}

void RateLoop::work(unsigned worker) {
  const std::uint64_t share = share_of(worker);
  const bool by_time = ends_ == Ends::time;
  const Ticks end = end_of(repetitions_);
  BurstLog& log = bursts_[worker];
  log.clear();
  std::uint64_t done = 0;
  // Bursts follow the load: the clock before it is that of an idle or a less loaded core.
  while (by_time ? done == 0 || Clock::now() < end : done < share) {
    kernel_.run(results_[worker].data());
    if (++done % blocks_between_bursts_ == 0) log.burst(kernel_.is_wide);
  }
  log.burst(kernel_.is_wide);
  blocks_[worker] = done;
}

Work RateLoop::run(std::uint64_t repetitions, bool flops) {
  repetitions_ = repetitions;
  const std::span<Worker> workers = team_->run(work_);
  std::uint64_t operations = 0;
  for (unsigned i = 0; i < workers.size(); ++i) {
    const std::uint64_t worker_operations = blocks_[i] * kernel_.operations;
    (flops ? workers[i].flops : workers[i].ops) = worker_operations;
    operations += worker_operations;
  }
  counter_values_[0] = undisturbed_burst_s(bursts_);
  return {
      .flops = flops ? operations : 0, .ops = flops ? 0 : operations, .workers = workers, .counters = counter_values_};
}

void RateLoop::verify() const {
  for (unsigned worker = 0; worker < team_->size(); ++worker) {
    if (blocks_[worker] == 0) continue;
    if (const auto difference = kernel_.difference(results_[worker].data())) {
      wrong_result(fmt::format("worker {}: {}", worker, *difference));
    }
  }
}

}  // namespace nameplate
