#include "cluster/node_summary.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <random>

#include "record/histogram.h"

namespace nameplate {
namespace {

using nlohmann::json;

json sample(double elapsed_s, std::uint64_t bytes, double steal_s) {
  return {{"type", "sample"},
          {"id", "x"},
          {"index", 0},
          {"start_s", 0.5},
          {"elapsed_s", elapsed_s},
          {"repetitions", 3},
          {"work", {{"bytes", bytes}, {"flops", 0}, {"ops", 2}}},
          {"counters", {{"cpu_user_s", elapsed_s}, {"cpu_system_s", 0.0}}},
          {"disturbed", {{"involuntary_switches", 1}, {"steal_s", steal_s}, {"burst_s", elapsed_s}}},
          {"workers", json::array()},
          {"histogram", {{"lower_ns", {10, 30}}, {"count", {1, 2}}}}};
}

json outcome(const char* ending, int samples) {
  return {{"type", "outcome"}, {"probe", "null"}, {"ending", ending}, {"samples", samples}, {"interrupted", false}};
}

// Returns a percentile by the nearest-rank method.
double percentile(const std::map<std::uint64_t, std::uint64_t>& counts, double share) {
  double all = 0;
  for (const auto& [lower_ns, count] : counts) all += static_cast<double>(count);
  double left = share * all;
  for (const auto& [lower_ns, count] : counts) {
    left -= static_cast<double>(count);
    if (left <= 0) return static_cast<double>(lower_ns);
  }
  return 0;
}

TEST(NodeSummary, AllSamplesAreMergedWithAllTheirWork) {
  NodeSummary summary(7);
  summary.write(sample(1.0, 100, 0.5));
  json second = sample(3.0, 100, 0.0);
  second["histogram"] = {{"lower_ns", {20, 30}}, {"count", {5, 1}}};
  summary.write(second);
  summary.write(outcome("ok", 2));
  const json records = summary.records();
  ASSERT_EQ(records.size(), 2);
  const json& sum = records[0];
  EXPECT_EQ(sum["node"], 7);
  EXPECT_EQ(sum["elapsed_s"], 4.0);
  EXPECT_EQ(sum["repetitions"], 6);
  EXPECT_EQ(sum["work"], json({{"bytes", 200}, {"flops", 0}, {"ops", 4}}));
  EXPECT_EQ(sum["disturbed"], json({{"involuntary_switches", 2}, {"steal_s", 0.5}, {"burst_s", 2.0}}));
  EXPECT_EQ(sum["histogram"], json({{"lower_ns", {10, 20, 30}}, {"count", {1, 5, 3}}}));
  EXPECT_FALSE(sum.contains("workers"));
  EXPECT_EQ(records[1]["node"], 7);
  EXPECT_LE(records.dump().size(), 4096);
}

TEST(NodeSummary, TheTimesOfReadsAndOfWritesAreMergedApart) {
  NodeSummary summary(0);
  for (const int lower_ns : {10, 20}) {
    json mixed = sample(1.0, 100, 0.0);
    mixed["read_histogram"] = {{"lower_ns", {lower_ns}}, {"count", {1}}};
    mixed["write_histogram"] = {{"lower_ns", {30}}, {"count", {2}}};
    summary.write(mixed);
  }
  summary.write(outcome("ok", 2));
  const json sum = summary.records()[0];
  EXPECT_EQ(sum["read_histogram"], json({{"lower_ns", {10, 20}}, {"count", {1, 1}}}));
  EXPECT_EQ(sum["write_histogram"], json({{"lower_ns", {30}}, {"count", {4}}}));
}

// Disk latencies that span seven powers of two would need thousands of buckets.
TEST(NodeSummary, AWideHistogramIsReducedAndKeepsItsPercentiles) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency_ns(std::log(200e3), 0.8);
  std::map<std::uint64_t, std::uint64_t> exact;
  NodeSummary summary(3);
  for (int round = 0; round < 20; ++round) {
    Histogram histogram;
    for (int i = 0; i < 5000; ++i) histogram.add(static_cast<std::uint64_t>(latency_ns(random)));
    json record = sample(0.5, 100, 0);
    record["histogram"] = histogram.to_json();
    for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
      if (histogram.count(i) > 0) exact[Histogram::lower_bound(i)] += histogram.count(i);
    }
    summary.write(record);
  }
  summary.write(outcome("ok", 20));
  ASSERT_GT(exact.size(), 1000);
  EXPECT_LE(summary.records().dump().size(), 4096);
  const json histogram = summary.records()[0]["histogram"];
  std::map<std::uint64_t, std::uint64_t> few;
  for (std::size_t i = 0; i < histogram["lower_ns"].size(); ++i)
    few[histogram["lower_ns"][i]] += histogram["count"][i].get<int>();
  EXPECT_EQ(few.begin()->first, exact.begin()->first);
  EXPECT_EQ(few.rbegin()->first, exact.rbegin()->first);
  EXPECT_EQ(percentile(few, 1.0), percentile(exact, 1.0));
  for (const double share : {0.05, 0.5, 0.95, 0.99}) {
    EXPECT_NEAR(percentile(few, share) / percentile(exact, share), 1, 0.04) << share;
  }
}

TEST(NodeSummary, WithoutASampleThereIsOnlyTheOutcome) {
  NodeSummary summary(0);
  summary.write(outcome("skipped", 0));
  ASSERT_EQ(summary.records().size(), 1);
  EXPECT_EQ(summary.records()[0]["ending"], "skipped");
}

TEST(NodeSummary, TenThousandNodesAreMerged) {
  constexpr int kNodes = 10'000;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);  // NOLINT: the system's own signature
  RecordWriter writer(nowhere);
  NodeSummary summary(1);
  for (int i = 0; i < 20; ++i) summary.write(sample(0.01, 100, 0));
  summary.write(outcome("ok", 20));
  const std::string text = summary.records().dump();
  ASSERT_LE(text.size(), 4096);
  std::vector<json> outcomes;
  for (int node = 0; node < kNodes; ++node) {
    const json records = json::parse(text);
    for (const json& record : records) writer.write(record);
    outcomes.push_back(records.back());
  }
  EXPECT_EQ(outcome_of_all(outcomes)["samples"], 20 * kNodes);
  close(nowhere);
}

TEST(NodeSummary, AnExperimentIsOkIfAnyNodeMeasuredIt) {
  const json all = outcome_of_all({outcome("failed", 0), outcome("ok", 4), outcome("ok", 3)});
  EXPECT_EQ(all["ending"], "ok");
  EXPECT_EQ(all["samples"], 7);
  EXPECT_EQ(outcome_of_all({outcome("skipped", 0), outcome("failed", 0)})["ending"], "skipped");
}

}  // namespace
}  // namespace nameplate
