#include <fmt/format.h>

#include "measure/team.h"
#include "probe/error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace nameplate {

#ifdef _OPENMP

namespace {

class OpenMpTeam final : public Team {
 public:
  OpenMpTeam(unsigned size, const Placement& placement) : Team(size, placement) {}

 protected:
  void start_all(const Function& function) override {
#pragma omp parallel num_threads(size())
    {
#pragma omp barrier
      timed(static_cast<unsigned>(omp_get_thread_num()), function);
    }
  }
};

// A runtime with a thread limit silently starts fewer threads; the times of missing workers would be meaningless.
void require_threads(unsigned size) {
  unsigned given = 0;
#pragma omp parallel num_threads(size)
  {
#pragma omp single
    given = static_cast<unsigned>(omp_get_num_threads());
  }
  if (given != size) fail(fmt::format("OpenMP starts {} of {} threads; is OMP_THREAD_LIMIT set?", given, size));
}

}  // namespace

unsigned openmp_threads() { return static_cast<unsigned>(omp_get_max_threads()); }

std::unique_ptr<Team> make_openmp_team(unsigned size, const Placement& placement) {
  omp_set_dynamic(0);
  require_threads(size);
  return std::make_unique<OpenMpTeam>(size, placement);
}

#else

unsigned openmp_threads() { return 1; }

std::unique_ptr<Team> make_openmp_team(unsigned /*size*/, const Placement& /*placement*/) { return nullptr; }

#endif

}  // namespace nameplate
