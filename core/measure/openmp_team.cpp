#include "measure/team.h"

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

}  // namespace

std::unique_ptr<Team> make_openmp_team(unsigned size, const Placement& placement) {
  omp_set_dynamic(0);
  return std::make_unique<OpenMpTeam>(size, placement);
}

#else

std::unique_ptr<Team> make_openmp_team(unsigned /*size*/, const Placement& /*placement*/) { return nullptr; }

#endif

}  // namespace nameplate
