#include "measure/team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <set>
#include <stdexcept>

#include "machine/topology.h"
#include "probe/error.h"

namespace nameplate {
namespace {

Placement this_machine() { return read_topology(Root()).allowed; }

class EveryEngine : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<Team> team_of(unsigned size) {
    try {
      return make_team(GetParam(), size, this_machine());
    } catch (const ProbeError&) {
      return nullptr;  // built without OpenMP, for example for the thread sanitizer, which does not understand libgomp
    }
  }
};

TEST_P(EveryEngine, RunsEveryWorkerOnceAndTimesIt) {
  for (const unsigned size : {1U, 2U, 3U, 8U}) {
    const auto team = team_of(size);
    if (!team) GTEST_SKIP() << "built without OpenMP";
    for (int round = 0; round < 50; ++round) {
      std::vector<int> calls(size);
      const auto workers = team->run([&calls](unsigned worker) { ++calls[worker]; });
      ASSERT_EQ(workers.size(), size);
      EXPECT_EQ(calls, std::vector<int>(size, 1));
      for (const Worker& worker : workers) EXPECT_GE(worker.finish, worker.start);
    }
  }
}

TEST_P(EveryEngine, RethrowsTheExceptionOfAWorker) {
  const auto team = team_of(4);
  if (!team) GTEST_SKIP() << "built without OpenMP";
  const auto third_fails = [](unsigned worker) {
    if (worker == 2) throw std::runtime_error("third");
  };
  EXPECT_THROW(team->run_untimed(third_fails), std::runtime_error);
  std::atomic<int> calls = 0;
  team->run_untimed([&calls](unsigned) { ++calls; });
  EXPECT_EQ(calls, 4);
}

INSTANTIATE_TEST_SUITE_P(Team, EveryEngine, testing::Values("thread", "openmp"));

TEST(ThreadTeam, PinsItsWorkersToDifferentCpusAndFreesTheCallerAfterwards) {
  const Placement placement = this_machine();
  cpu_set_t before;
  sched_getaffinity(0, sizeof(before), &before);
  {
    const auto size = static_cast<unsigned>(placement.cpus.size());
    const auto team = make_thread_team(size, placement);
    std::vector<unsigned> cpus(size);
    team->run([&cpus](unsigned worker) { cpus[worker] = static_cast<unsigned>(sched_getcpu()); });
    EXPECT_EQ(cpus, placement.cpus);
  }
  cpu_set_t after;
  sched_getaffinity(0, sizeof(after), &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(ThreadTeam, LeavesWorkersWithoutABindingToTheScheduler) {
  cpu_set_t process;
  sched_getaffinity(0, sizeof(process), &process);
  std::vector<cpu_set_t> allowed(2);
  make_thread_team(2, this_machine(), Binding::none)->run([&allowed](unsigned worker) {
    sched_getaffinity(0, sizeof(cpu_set_t), &allowed[worker]);
  });
  EXPECT_TRUE(CPU_EQUAL(&process, allowed.data()));
  EXPECT_TRUE(CPU_EQUAL(&process, &allowed[1]));
}

TEST(ThreadTeam, ReportsMoreWorkersThanCpus) {
  const Placement placement = this_machine();
  const auto cpus = static_cast<unsigned>(placement.cpus.size());
  EXPECT_FALSE(make_thread_team(cpus, placement)->oversubscribed());
  EXPECT_TRUE(make_thread_team(cpus + 1, placement)->oversubscribed());
}

}  // namespace
}  // namespace nameplate
