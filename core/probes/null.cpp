// What it measures: the tool itself. It does nothing for a given time, so whatever a sample shows beyond that time is
// the cost of starting workers, reading the clock and collecting the result.
//
// Why that is valid: the work is known exactly, since the deadline is kept by the same clock that times the sample.
//
// What it does not show: the cost of the tool next to a probe that needs memory, caches or the network.

#include "machine/machine.h"
#include "measure/clock.h"
#include "measure/keep_alive.h"
#include "measure/team.h"
#include "probe/registry.h"

namespace nameplate::null {

namespace {

constexpr double kLongest_s = 3600;

class Null final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    Prepared prepared{.resolved = parameters};
    const auto threads = parameters.count("threads");
    duration_ = Clock::get().ticks(parameters.seconds("duration"));
    team_ = make_team(parameters.word("engine"), static_cast<unsigned>(threads), machine.topology.allowed);
    work_ = [this](unsigned) { idle(); };
    return prepared;
  }

  Work run(std::uint64_t repetitions) override {
    repetitions_ = repetitions;
    const std::span<Worker> workers = team_->run(work_);
    for (Worker& worker : workers) worker.ops = repetitions;
    return {.ops = repetitions * workers.size(), .workers = workers};
  }

 private:
  void idle() const {
    for (std::uint64_t i = 0; i < repetitions_; ++i) {
      keep_alive(i);
      if (duration_ == 0) continue;
      const Ticks end = Clock::now() + duration_;
      while (Clock::now() < end) {
      }
    }
  }

  std::unique_ptr<Team> team_;
  Team::Function work_;
  Ticks duration_ = 0;
  std::uint64_t repetitions_ = 0;
};

ProbeInfo info() {
  Parameter threads = threads_parameter();
  threads.default_value = "1";
  return {.name = "null",
          .summary = "overhead of nameplate itself: does nothing for a given time",
          .parameters = {duration("duration", "time of doing nothing in one repetition", 0, kLongest_s, "100us"),
                         threads, choice("engine", "what runs the workers", {"thread", "openmp"}, "thread")},
          .counters = {},
          .facts = {},
          .needs = {},
          .reports_workers = true};
}

const Registration<Null> kRegistration(info);

}  // namespace

}  // namespace nameplate::null
