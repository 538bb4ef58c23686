#include "workloads/rate_loop.h"

#include <gtest/gtest.h>

#include "kernels/flops.h"
#include "kernels/isa.h"
#include "machine/topology.h"
#include "probe/error.h"

namespace nameplate {
namespace {

std::vector<RateKernel> additions() { return flops_kernels<double>(vector_isas().front(), FloatMix::add); }
Placement this_machine() { return read_topology(Root()).allowed; }

TEST(RateLoop, WeakScalingGivesEveryWorkerTheSameWork) {
  RateLoop one(additions(), 1, Scaling::weak, Ends::work, this_machine());
  RateLoop three(additions(), 3, Scaling::weak, Ends::work, this_machine());
  const Work work = three.run(5, true);
  ASSERT_EQ(work.workers.size(), 3U);
  EXPECT_EQ(work.workers[0].flops, work.workers[2].flops);
  EXPECT_EQ(work.flops, 3 * work.workers[0].flops);
  EXPECT_EQ(work.ops, 0U);
  three.verify();
}

TEST(RateLoop, StrongScalingSplitsAConstantTotal) {
  std::uint64_t total = 0;
  for (const unsigned threads : {1U, 2U, 3U}) {
    RateLoop loop({additions().front()}, threads, Scaling::strong, Ends::work, this_machine());
    const Work work = loop.run(1, true);
    if (threads == 1) total = work.flops;
    EXPECT_EQ(work.flops, total);
    EXPECT_NEAR(static_cast<double>(work.workers.back().flops), static_cast<double>(total) / threads, 1e6);
  }
  EXPECT_NEAR(static_cast<double>(total), kStrongOperations, kStrongOperations / 100);
}

// Workers that share a CPU get different parts of it; each works for its time all the same.
TEST(RateLoop, WorkersThatEndByTimeCountWhatTheyDid) {
  constexpr std::uint64_t kRepetitions = 100;
  Placement one_cpu = this_machine();
  one_cpu.cpus.resize(1);
  RateLoop loop(additions(), 3, Scaling::weak, Ends::time, one_cpu);
  const Work work = loop.run(kRepetitions, true);
  std::uint64_t total = 0;
  for (const Worker& worker : work.workers) {
    EXPECT_GE(Clock::get().seconds(worker.finish - worker.start), 0.999 * kRepetitions * kTimedRepetition_s);
    EXPECT_GT(worker.flops, 0U);
    EXPECT_EQ(worker.flops % loop.kernel().operations, 0U);
    total += worker.flops;
  }
  EXPECT_EQ(work.flops, total);
  loop.verify();
}

TEST(RateLoop, CountsOperationsOnRequest) {
  RateLoop loop(additions(), 1, Scaling::weak, Ends::work, this_machine());
  const Work work = loop.run(2, false);
  EXPECT_EQ(work.flops, 0U);
  EXPECT_EQ(work.ops, work.workers[0].ops);
  EXPECT_GT(work.counters[0], 0);
}

TEST(RateLoop, AWrongResultIsDetected) {
  RateKernel wrong = additions().front();
  wrong.run = [run = wrong.run](std::byte* result) {
    run(result);
    result[9] ^= std::byte{1};
  };
  RateLoop loop({wrong}, 2, Scaling::weak, Ends::work, this_machine());
  loop.run(1, true);
  EXPECT_THROW(loop.verify(), ProbeError);
}

}  // namespace
}  // namespace nameplate
