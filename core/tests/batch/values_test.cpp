#include "batch/values.h"

#include <gtest/gtest.h>

namespace nameplate {
namespace {

using nlohmann::json;

const OrderedJson kRate = {
    {"unit", "op/s"},
    {"numerator", {{{"times", {"sample/work/ops", "outcome/params/depth"}}, {"over", OrderedJson::array()}}}},
    {"denominator", {{{"times", {"sample/elapsed_s"}}, {"over", OrderedJson::array()}}}}};
const OrderedJson kMedianTime = {{"unit", "s"}, {"share", 0.5}};

json sample(double elapsed_s, int ops) { return {{"elapsed_s", elapsed_s}, {"work", {{"ops", ops}}}}; }

json timed(const std::vector<int>& lower_ns, const std::vector<int>& count) {
  return {{"histogram", {{"lower_ns", lower_ns}, {"count", count}}}};
}

json outcome_with(int threads, int depth = 2, bool is_oversubscribed = false) {
  return {{"params", {{"threads", threads}, {"depth", depth}, {"op", "read"}}},
          {"facts", json::object()},
          {"oversubscribed", is_oversubscribed}};
}

PlannedExperiment experiment(const std::string& id) { return {.id = id, .probe = "p", .params = {}, .record = {}}; }

OrderedJson one_line(const std::string& better) {
  return OrderedJson::array({{{"label", "rate"},
                              {"probe", "p"},
                              {"given", OrderedJson::object()},
                              {"params", {{"op", "read"}}},
                              {"better", better},
                              {"metrics", {kRate}},
                              {"below", OrderedJson::array()}}});
}

// Returns the typical value of a metric in rounds with these samples.
std::optional<double> typical(const OrderedJson& formula, const std::vector<std::vector<json>>& rounds) {
  MetricRounds metric(formula);
  for (const auto& samples : rounds) metric.add(outcome_with(1), samples);
  return metric.typical();
}

TEST(MetricRounds, AQuotientIsTheMedianOfTheRoundsMedians) {
  EXPECT_EQ(typical(kRate, {{sample(1, 10), sample(2, 10), sample(4, 10)}}), 10.0);
  EXPECT_EQ(typical(kRate, {{sample(1, 10), sample(2, 10)}}), 15.0);
  EXPECT_EQ(typical(kRate, {{sample(1, 10)}, {sample(1, 1), sample(1, 20), sample(1, 30)}, {sample(1, 15)}}), 30.0);
}

TEST(MetricRounds, LeavesOutSamplesWithoutTime) {
  EXPECT_EQ(typical(kRate, {{sample(0, 10), sample(2, 10)}}), 10.0);
  EXPECT_EQ(typical(kRate, {{sample(0, 10)}}), std::nullopt);
}

TEST(MetricRounds, APercentileIsTheMiddleOfTheBucketOfAllOperations) {
  // 1000 ns begin a bucket of 2 ns.
  EXPECT_DOUBLE_EQ(*typical(kMedianTime, {{timed({100, 1000}, {5, 5}), timed({1000}, {15})}}), 1000.5e-9);
  EXPECT_DOUBLE_EQ(*typical(kMedianTime, {{timed({100}, {10})}, {timed({1000}, {15})}}), 1000.5e-9);
  EXPECT_DOUBLE_EQ(*typical(kMedianTime, {{timed({100}, {16})}, {timed({1000}, {15})}}), 100e-9);
}

TEST(MetricRounds, APercentileNeedsTenOperationsAboveItInAllRoundsTogether) {
  EXPECT_TRUE(typical(kMedianTime, {{timed({100}, {19})}, {timed({100}, {1})}}));
  EXPECT_FALSE(typical(kMedianTime, {{timed({100}, {18})}, {timed({100}, {1})}}));
  EXPECT_FALSE(typical(kMedianTime, {{sample(1, 1)}}));
}

TEST(Values, TheMostThreadsWithACpuEachAreShown) {
  const OrderedJson lines = one_line("higher");
  Values values(lines);
  values.add(experiment("one"), outcome_with(1), {sample(1, 90)});
  values.add(experiment("two"), outcome_with(2), {sample(1, 50)});
  values.add(experiment("many"), outcome_with(8, 2, true), {sample(1, 99)});
  EXPECT_EQ(values.best_of(0)->params["threads"], 2);
  values.forget("two");
  EXPECT_EQ(values.best_of(0)->params["threads"], 1);
}

TEST(Values, OfEqualThreadsTheBetterValueIsShown) {
  for (const auto& [better, expected] : {std::pair("higher", 60.0), std::pair("lower", 20.0)}) {
    const OrderedJson lines = one_line(better);
    Values values(lines);
    values.add(experiment("slow"), outcome_with(1), {sample(1, 10)});
    values.add(experiment("fast"), outcome_with(1), {sample(1, 30)});
    EXPECT_EQ(values.best_of(0)->metrics.front().typical(), expected) << better;
  }
}

TEST(Values, ExperimentsWithOtherParametersAreIgnored) {
  const OrderedJson lines = one_line("higher");
  Values values(lines);
  json other = outcome_with(1);
  other["params"]["op"] = "write";
  values.add(experiment("other"), other, {sample(1, 10)});
  EXPECT_EQ(values.best_of(0), nullptr);
}

TEST(Values, TheMedianIsThatOfTheRounds) {
  const OrderedJson lines = one_line("higher");
  Values values(lines);
  for (const int ops : {10, 40, 20}) values.add(experiment("e"), outcome_with(1, 1), {sample(1, ops)});
  EXPECT_EQ(values.best_of(0)->metrics.front().typical(), 20.0);
}

}  // namespace
}  // namespace nameplate
