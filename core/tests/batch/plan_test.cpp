#include "batch/plan.h"

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
  const BatchPlan plan = plan_of(kQuickPlan, machine);
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
  const BatchPlan plan = plan_of(kQuickPlan, machine_with_caches(64 * kMebibyte));
  for (const std::int64_t bytes : values_of_machine("in_caches", machine_with_caches(kMebibyte))) {
    const std::string id = "memory_stream op=read size=" + std::to_string(bytes);
    const auto match = std::ranges::find(plan.experiments, id, &PlannedExperiment::id);
    ASSERT_NE(match, plan.experiments.end()) << id;
    EXPECT_EQ(match->params, OrderedJson({{"op", "read"}, {"size", bytes}}));
  }
}

OrderedJson request_file() {
  return OrderedJson::parse(R"json({
    "plan": {"name": "mine",
             "limits": {"budget_s": 10, "precision": 0.02, "rounds": 2, "warmup_s": 0.02, "samples": null,
                        "sample_s": 0.002, "budget_binds": true},
             "experiments": [
               {"id": "cpu_flops threads=1", "probe": "cpu_flops", "params": {"threads": 1}, "slice_s": 0.1},
               {"id": "null series", "probe": "null", "params": {}, "slice_s": 5, "sample_s": 1, "interval_s": 0.5}]},
    "longest_setup_s": [1, 2],
    "seed": 18446744073709551615})json");
}

TEST(RequestFile, HasLimitsAndSeed) {
  const BatchPlan plan = plan_of(request_file().dump(), machine_with_caches(kMebibyte));
  EXPECT_EQ(plan.rounds, 2);
  EXPECT_EQ(plan.max_samples, std::nullopt);
  EXPECT_TRUE(plan.budget_binds);
  EXPECT_EQ(plan.seed, 18446744073709551615U);
  EXPECT_TRUE(plan.lines.empty());
  EXPECT_EQ(plan.experiments[1].longest_setup_s, 2);
}

TEST(RequestFile, OnlyASeriesOfThePlanIsMeasuredOnce) {
  OrderedJson text = request_file();
  const BatchPlan of_plan = plan_of(text.dump(), machine_with_caches(kMebibyte));
  EXPECT_EQ(of_plan.experiments[0].interval_s, std::nullopt);
  EXPECT_EQ(of_plan.experiments[1].interval_s, 0.5);
  EXPECT_FALSE(of_plan.experiments[0].is_measured_once);
  EXPECT_TRUE(of_plan.experiments[1].is_measured_once);
  text["plan"]["limits"]["interval_s"] = 0.25;
  const BatchPlan of_limits = plan_of(text.dump(), machine_with_caches(kMebibyte));
  EXPECT_EQ(of_limits.experiments[0].interval_s, 0.25);
  EXPECT_FALSE(of_limits.experiments[0].is_measured_once);
}

TEST(RequestFile, TheLimitOfSamplesTakesPrecedence) {
  OrderedJson text = request_file();
  EXPECT_EQ(plan_of(text.dump(), machine_with_caches(kMebibyte)).experiments[1].sample_s, 0.002);
  text["plan"]["limits"]["sample_s"] = nullptr;
  EXPECT_EQ(plan_of(text.dump(), machine_with_caches(kMebibyte)).experiments[1].sample_s, 1);
}

TEST(RequestFile, IsRejectedIfItIsNoPossiblePlan) {
  const Machine machine = machine_with_caches(kMebibyte);
  for (const char* const text : {"", "[]", "{}", R"({"plan": 3})", "\xff"}) {
    EXPECT_THROW(plan_of(text, machine), ProbeError) << text;
  }
  for (const auto& [path, value] :
       std::vector<std::pair<const char*, OrderedJson>>{{"/plan/experiments", OrderedJson::array()},
                                                        {"/plan/experiments/0/slice_s", 0},
                                                        {"/plan/experiments/0/slice_s", "long"},
                                                        {"/plan/experiments/0/params", 1},
                                                        {"/plan/experiments/0/params/threads", "{moon}"},
                                                        {"/plan/limits/rounds", 0},
                                                        {"/plan/limits/budget_s", -1},
                                                        {"/plan/limits/samples", 0},
                                                        {"/longest_setup_s", {1}},
                                                        {"/seed", "x"}}) {
    OrderedJson wrong = request_file();
    wrong[OrderedJson::json_pointer(path)] = value;
    EXPECT_THROW(plan_of(wrong.dump(), machine), ProbeError) << path;
  }
}

}  // namespace
}  // namespace nameplate
