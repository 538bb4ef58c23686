#include "quick/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "probe/error.h"

namespace nameplate {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

// Four cores with two hardware threads each, of which the process may use three cores; two L3 caches.
Machine machine_with_caches(std::int64_t l3_bytes) {
  Machine machine;
  machine.topology.allowed.cores = 3;
  machine.topology.allowed.cpus = {0, 1, 2, 4, 5, 6};
  machine.topology.caches = {{.level = 1, .type = "data", .size_bytes = 32 << 10, .count = 4},
                             {.level = 3, .type = "unified", .size_bytes = l3_bytes, .count = 2},
                             {.level = 4, .type = "instruction", .size_bytes = 512 * kMebibyte, .count = 1}};
  return machine;
}

using Numbers = std::vector<std::int64_t>;

TEST(ValuesOfMachine, AreThoseOfThePythonPackage) {
  const Machine machine = machine_with_caches(64 * kMebibyte);
  EXPECT_EQ(values_of_machine("hardware_threads", machine), Numbers({6}));
  EXPECT_EQ(values_of_machine("in_caches", machine), Numbers({3 * (16 << 10), 3 * (256 << 10), 6 * kMebibyte}));
  EXPECT_EQ(values_of_machine("beyond", machine), Numbers({4 * 2 * 64 * kMebibyte}));
  EXPECT_EQ(values_of_machine("beyond_one", machine), Numbers({4 * 64 * kMebibyte}));
}

TEST(ValuesOfMachine, HaveAMinimumWhereNoCacheIsListed) {
  Machine machine = machine_with_caches(kMebibyte);
  EXPECT_EQ(values_of_machine("beyond", machine), Numbers({128 * kMebibyte}));
  machine.topology.caches.clear();
  EXPECT_EQ(values_of_machine("beyond_one", machine), Numbers({128 * kMebibyte}));
}

TEST(ValuesOfMachine, AnUnknownNameIsAnError) {
  EXPECT_THROW(values_of_machine("moon", machine_with_caches(kMebibyte)), ProbeError);
}

void expect_a_possible_plan(const Machine& machine) {
  const QuickPlan plan = quick_plan(machine);
  EXPECT_GT(plan.budget_s, 0);
  EXPECT_EQ(plan.record["experiments"].size(), plan.experiments.size());
  EXPECT_EQ(plan.record.dump().find("\"{"), std::string::npos);
  for (const OrderedJson& line : plan.lines) EXPECT_EQ(line["given"].dump().find("\"{"), std::string::npos);
  std::vector<std::string> ids;
  for (const PlannedExperiment& experiment : plan.experiments) ids.push_back(experiment.id);
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(QuickPlan, HasNoNameInBracesLeftAndNoIdTwice) {
  Machine machine = machine_with_caches(64 * kMebibyte);
  expect_a_possible_plan(machine);
  machine.topology.allowed.cores = 1;
  machine.topology.allowed.cpus = {0};
  expect_a_possible_plan(machine);
}

TEST(QuickPlan, HasAnExperimentForEachValueOfTheMachine) {
  const QuickPlan plan = quick_plan(machine_with_caches(64 * kMebibyte));
  for (const std::int64_t bytes : values_of_machine("in_caches", machine_with_caches(kMebibyte))) {
    const std::string id = "memory_stream op=read size=" + std::to_string(bytes);
    const auto match = std::ranges::find(plan.experiments, id, &PlannedExperiment::id);
    ASSERT_NE(match, plan.experiments.end()) << id;
    EXPECT_EQ(match->params, OrderedJson({{"op", "read"}, {"size", bytes}}));
  }
}

}  // namespace
}  // namespace nameplate
