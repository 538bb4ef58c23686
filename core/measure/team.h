// Runs a function on n pinned workers behind a start gate, and returns when each started and finished.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "machine/affinity.h"
#include "record/worker.h"

namespace nameplate {

class Team {
 public:
  using Function = std::function<void(unsigned worker)>;

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  Team(Team&&) = delete;
  Team& operator=(Team&&) = delete;
  virtual ~Team() = default;

  unsigned size() const { return static_cast<unsigned>(workers_.size()); }
  bool oversubscribed() const { return oversubscribed_; }

  // Calls `function(worker)` once on every worker, released together, and returns their starts and finishes in ticks;
  // valid until the next call. The probe may add each worker's own work. `function` must not throw.
  std::span<Worker> run(const Function& function);

  // Runs untimed work that the user of the memory must do: set-up, first touch. Rethrows what a worker threw.
  void run_untimed(const Function& function);

 protected:
  Team(unsigned size, const Placement& placement);

  // Calls timed(worker, function) on every worker after a common start.
  virtual void start_all(const Function& function) = 0;

  void timed(unsigned worker, const Function& function);

 private:
  std::vector<Worker> workers_;
  bool oversubscribed_;
};

// `engine` is "thread" (std::jthread, pinned by `placement`) or "openmp" (the OpenMP runtime, which places its threads
// by OMP_PLACES and OMP_PROC_BIND). Throws ProbeError(skipped) if OpenMP was not built in.
std::unique_ptr<Team> make_team(const std::string& engine, unsigned size, const Placement& placement);

// Returns how many threads OpenMP would use by default, as OMP_NUM_THREADS says; 1 if it was not built in.
unsigned openmp_threads();

// Each thread stays on a CPU of its own, or runs where the system's scheduler puts it.
enum class Binding { dedicated_cpu, none };

// Returns a team of std::jthread.
std::unique_ptr<Team> make_thread_team(unsigned size, const Placement& placement,
                                       Binding binding = Binding::dedicated_cpu);

// Returns null if the program was built without OpenMP.
std::unique_ptr<Team> make_openmp_team(unsigned size, const Placement& placement);

}  // namespace nameplate
