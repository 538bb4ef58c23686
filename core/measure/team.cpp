#include "measure/team.h"

#include <exception>

#include "measure/clock.h"
#include "probe/error.h"

namespace nameplate {

Team::Team(unsigned size, const Placement& placement) : workers_(size), oversubscribed_(size > placement.cpus.size()) {}

void Team::timed(unsigned worker, const Function& function) {
  Worker& record = workers_[worker];
  record.start = Clock::now();
  function(worker);
  record.finish = Clock::now();
}

std::span<Worker> Team::run(const Function& function) {
  start_all(function);
  return workers_;
}

void Team::run_untimed(const Function& function) {
  std::vector<std::exception_ptr> errors(size());
  start_all([&](unsigned worker) {
    try {
      function(worker);
    } catch (...) {
      errors[worker] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

std::unique_ptr<Team> make_team(const std::string& engine, unsigned size, const Placement& placement) {
  if (engine == "thread") return make_thread_team(size, placement);
  auto team = make_openmp_team(size, placement);
  if (!team) refuse("engine=openmp: this nameplate-core was built without OpenMP");
  return team;
}

}  // namespace nameplate
