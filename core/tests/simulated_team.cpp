// A probe whose workers exist only in its results, for bench/cost/many_threads.py: what the coordinator does for
// hundreds of workers, without the time that waking them takes on a machine with fewer CPUs.

#include <vector>

#include "measure/clock.h"
#include "probe/registry.h"

namespace nameplate {

namespace {

constexpr double kRepetition_s = 100e-6;

class SimulatedTeam final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine&) override {
    workers_.resize(static_cast<std::size_t>(parameters.count("threads")));
    return {.resolved = parameters};
  }

  Work run(std::uint64_t repetitions) override {
    const Ticks start = Clock::now();
    const Ticks end = start + repetitions * Clock::get().ticks(kRepetition_s);
    while (Clock::now() < end) {
    }
    // Times that differ, as those of real workers do, so that a record has as many digits.
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i] = {.start = start + 7 * i, .finish = end - 3 * i, .ops = repetitions};
    }
    return {.ops = repetitions * workers_.size(), .workers = workers_};
  }

 private:
  std::vector<Worker> workers_;
};

ProbeInfo info() {
  return {.name = "simulated_team",
          .summary = "does nothing on workers that do not exist",
          .parameters = {threads_parameter()},
          .counters = {},
          .facts = {},
          .needs = {},
          .reports_workers = true};
}

const Registration<SimulatedTeam> kRegistration(info);

}  // namespace

}  // namespace nameplate
