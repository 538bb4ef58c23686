#include "measure/sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>
#include <sstream>

#include "disk/retained_files.h"
#include "measure/clock.h"
#include "net/remote_session.h"
#include "probe/error.h"

namespace nameplate {
namespace {

// The behaviour of the probe below, and the counts of its calls.
struct Script {
  std::uint64_t step_ns = 1'000;  // the time of one repetition
  bool takes_its_time = false;    // whether it really takes that time
  int delayed_run = 0;            // the call, from 1, that takes a second longer
  Ending setup_ends = Ending::ok;
  Ending verify_ends = Ending::ok;
  bool may_pass = false;
  std::optional<std::uint64_t> repetitions;
  std::optional<std::uint64_t> max_repetitions;
  std::optional<std::uint64_t> samples;
  bool warms_up = false;
  std::uint64_t batches = 1;
  const char* fact = "answer";
  int prepared = 0;
  int runs = 0;
  int torn_down = 0;
};
Script g_script;

void end_as(Ending ending) {
  if (ending == Ending::skipped && g_script.may_pass) refuse_for_now("not now");
  if (ending == Ending::skipped) refuse("not here");
  if (ending == Ending::invalid) wrong_result("1 is not 2");
  if (ending == Ending::failed) fail("broken");
}

// Reports that every repetition took step_ns, and really takes that time only if the script says so.
class Scripted final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine&) override {
    end_as(g_script.setup_ends);
    return {.resolved = parameters,
            .facts = {{g_script.fact, 42}},
            .repetitions = g_script.repetitions,
            .max_repetitions = g_script.max_repetitions,
            .samples = g_script.samples,
            .warms_up = g_script.warms_up,
            .batches = g_script.batches,
            .labels = {{"a", "b"}}};
  }
  void prepare() override { ++g_script.prepared; }
  Work run(std::uint64_t repetitions) override {
    ++g_script.runs;
    worker_.start = Clock::now();
    const double delay_s = g_script.runs == g_script.delayed_run ? 1 : 0;
    const double run_s = static_cast<double>(repetitions * g_script.step_ns) * 1e-9 + delay_s;
    worker_.finish = worker_.start + Clock::get().ticks(run_s);
    while (g_script.takes_its_time && Clock::now() < worker_.finish) {
    }
    counters_ = {static_cast<double>(repetitions), static_cast<double>(repetitions)};
    pairs_ = {1.23456789e-6, g_script.runs % 2 == 0 ? 1e-6 : 3e-6, std::numeric_limits<double>::quiet_NaN()};
    return {
        .ops = repetitions, .workers = {&worker_, 1}, .counters = counters_, .histogram = &histogram_, .pairs = pairs_};
  }
  void verify() override { end_as(g_script.verify_ends); }
  void teardown() override { ++g_script.torn_down; }

 private:
  Worker worker_;
  std::array<double, 2> counters_{};
  std::array<double, 3> pairs_{};
  Histogram histogram_;
};

ProbeInfo info() {
  return {.name = "test_scripted",
          .summary = "for these tests",
          .parameters = {integer("level", "any", 1, 9, "1")},
          .counters = {{"summed", "", "", Combine::sum}, {"last", "", "", Combine::last}},
          .facts = {{"answer", "", ""}},
          .needs = {},
          .reports_workers = true};
}

const Registration<Scripted> kRegistration(info);

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override { g_script = Script(); }

  static std::vector<nlohmann::json> run(const Request& request) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const Root root;
    const Machine machine = read_machine(root);
    RecordWriter writer(ends[1]);
    std::atomic<bool> stop_requested = false;
    RetainedFiles retained_files;
    PeerAccess peer;
    Context context{.stop_requested = stop_requested, .retained_files = retained_files, .peer = peer};
    Sampler(context, machine, root, writer).run(request);
    close(ends[1]);
    std::string text;
    std::array<char, 4096> chunk{};
    for (ssize_t n = 0; (n = read(ends[0], chunk.data(), chunk.size())) > 0;)
      text.append(chunk.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    std::vector<nlohmann::json> records;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) records.push_back(nlohmann::json::parse(line));
    return records;
  }

  static Request request(const std::string& params = "{}") {
    return {.id = "x",
            .probe = "test_scripted",
            .params = nlohmann::json::parse(params),
            .slice_s = 0.01,
            .warmup_s = 0,
            .max_samples = 3};
  }
};

TEST_F(SamplerTest, CalibratesToTheSampleLengthAndEndsWithTheOutcome) {
  // A slow machine must not spend the slice before the last sample.
  Request patient = request();
  patient.slice_s = 10;
  const auto records = run(patient);
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0]["type"], "sample");
  EXPECT_GE(records[0]["elapsed_s"], 0.01);
  EXPECT_LT(records[0]["elapsed_s"], 1);
  EXPECT_EQ(records[0]["work"]["ops"], records[0]["repetitions"]);
  EXPECT_EQ(records[0]["counters"]["summed"], records[0]["repetitions"]);
  EXPECT_EQ(records[0]["workers"].size(), 1U);
  EXPECT_TRUE(records[0].contains("histogram"));
  EXPECT_EQ(records[3]["type"], "outcome");
  EXPECT_EQ(records[3]["ending"], "ok");
  EXPECT_EQ(records[3]["facts"]["answer"], 42);
  EXPECT_EQ(records[3]["samples"], 3);
  EXPECT_EQ(records[3]["labels"]["a"], "b");
  EXPECT_GE(g_script.runs, 3);
  EXPECT_EQ(g_script.prepared, g_script.runs) << "also before what calibrates";
  EXPECT_EQ(g_script.torn_down, 1);
}

TEST_F(SamplerTest, OneDelayedCallDoesNotShortenTheSamples) {
  for (int call = 3; call <= 8; ++call) {
    g_script = Script();
    g_script.delayed_run = call;
    const auto records = run(request());
    EXPECT_GE(records[0]["elapsed_s"], 0.01) << "call " << call;
    EXPECT_GT(g_script.runs, 8 + 3) << "the delayed call is not one of the samples";
  }
}

TEST_F(SamplerTest, NoSampleExceedsThePreparedRepetitions) {
  g_script.max_repetitions = 50;
  const auto records = run(request());
  EXPECT_EQ(records[0]["repetitions"], 50);
  Request series = request();
  series.interval_s = 0.01;
  const auto refused = run(series);
  EXPECT_EQ(refused.back()["ending"], "skipped");
  EXPECT_EQ(refused.size(), 1U);
}

TEST_F(SamplerTest, TakesTheNumberOfSamplesThatSetupRequestsForAnySlice) {
  g_script.samples = 9;
  Request asked = request();
  asked.slice_s = 0;
  asked.max_samples.reset();
  EXPECT_EQ(run(asked).back()["samples"], 9);
  asked.slice_s = 3600;
  EXPECT_EQ(run(asked).back()["samples"], 9);
  asked.max_samples = 2;
  EXPECT_EQ(run(asked).back()["samples"], 2);
}

TEST_F(SamplerTest, ScalesALongSampleFromAShortCalibration) {
  Request asked = request();
  asked.sample_s = 5;
  asked.max_samples = 1;
  const auto records = run(asked);
  EXPECT_GE(records[0]["elapsed_s"], 5);
  EXPECT_LT(records[0]["elapsed_s"], 5.1);
}

TEST_F(SamplerTest, EachBatchOfACallIsAsLongAsASample) {
  g_script.batches = 7;
  const auto records = run(request());
  EXPECT_GE(records[0]["elapsed_s"], 7 * 0.01);
  EXPECT_LT(records[0]["elapsed_s"], 7 * 0.03);
}

TEST_F(SamplerTest, PairTimesHaveFiveDigits) { EXPECT_EQ(run(request())[0]["pairs"][0], 1.2346e-6); }

TEST_F(SamplerTest, APairWithoutAValueIsNull) {
  const nlohmann::json pairs = run(request())[0]["pairs"];
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_TRUE(pairs[2].is_null());
}

TEST_F(SamplerTest, KeepsFixedRepetitions) {
  Request asked = request();
  asked.repetitions = 7;
  for (const auto& record : run(asked)) {
    if (record["type"] == "sample") {
      EXPECT_EQ(record["repetitions"], 7);
    }
  }
}

TEST_F(SamplerTest, AProbeThatWarmsUpWithFixedRepetitionsRunsOnlyItsSamples) {
  g_script.repetitions = 1;
  g_script.samples = 3;
  run(request());
  const int with_warm_up = g_script.runs;
  g_script.runs = 0;
  g_script.warms_up = true;
  run(request());
  EXPECT_EQ(g_script.runs, 3);
  EXPECT_GT(with_warm_up, 3);
}

TEST_F(SamplerTest, ASeriesHasOneSamplePerIntervalNoGapAndAddsUp) {
  g_script.takes_its_time = true;
  Request asked = request();
  asked.max_samples.reset();
  asked.interval_s = 0.02;
  asked.slice_s = 0.6;
  const auto records = run(asked);
  ASSERT_EQ(records.size(), 31U);
  const double start_s = records[0]["start_s"];
  double end_s = start_s;
  double sum_s = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(records[i]["start_s"], end_s, 1e-9);
    sum_s += records[i]["elapsed_s"].get<double>();
    end_s = records[i]["start_s"].get<double>() + records[i]["elapsed_s"].get<double>();
    EXPECT_EQ(records[i]["counters"]["summed"], records[i]["repetitions"]);
    EXPECT_LE(records[i]["counters"]["last"], records[i]["repetitions"]);
    EXPECT_GE(records[i]["disturbed"]["between_calls_s"], 0);
    EXPECT_LT(records[i]["disturbed"]["between_calls_s"], records[i]["elapsed_s"]);
  }
  EXPECT_NEAR(sum_s, end_s - start_s, 1e-3 * sum_s);
}

TEST_F(SamplerTest, PairTimesAreTheMeanOfSeveralCalls) {
  g_script.takes_its_time = true;
  Request asked = request();
  asked.interval_s = 0.5;
  asked.slice_s = 0.5;
  EXPECT_NEAR(run(asked)[0]["pairs"][1], 2e-6, 0.9e-6);
}

TEST_F(SamplerTest, RejectsASeriesWithIntervalsShorterThanACall) {
  g_script.step_ns = 30'000'000;
  Request asked = request();
  asked.interval_s = 0.02;
  const auto records = run(asked);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["ending"], "skipped");
  EXPECT_EQ(records[0]["reason"],
            "not possible as a series with an interval of 0.02 s: the shortest call takes 0.03 s");
}

TEST_F(SamplerTest, ReportsWhyAndWhereAnExperimentEnded) {
  g_script.setup_ends = Ending::skipped;
  auto records = run(request());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["ending"], "skipped");
  EXPECT_EQ(records[0]["reason"], "not here");
  EXPECT_EQ(records[0]["stage"], "setup");
  EXPECT_FALSE(records[0].contains("may_pass"));
  EXPECT_EQ(g_script.torn_down, 1);

  g_script.may_pass = true;
  EXPECT_EQ(run(request())[0]["may_pass"], true);

  g_script = Script();
  g_script.verify_ends = Ending::invalid;
  records = run(request());
  EXPECT_EQ(records.back()["ending"], "invalid");
  EXPECT_EQ(records.back()["stage"], "verify");
  EXPECT_EQ(g_script.torn_down, 1);
}

TEST_F(SamplerTest, AMissingFactFailsTheExperimentByName) {
  g_script.fact = "other";
  const auto records = run(request());
  EXPECT_EQ(records.back()["ending"], "failed");
  EXPECT_EQ(records.back()["reason"], "the probe gave no value to its fact 'answer'");
}

TEST_F(SamplerTest, RejectsAValueOutOfRangeBeforeSetup) {
  const auto records = run(request(R"({"level": 10})"));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["ending"], "failed");
  EXPECT_EQ(records[0]["stage"], "request");
  EXPECT_EQ(records[0]["reason"], "level=10: not possible; use 1 to 9");
}

TEST(ParseRequest, RejectsWhatIsNotARequest) {
  EXPECT_THROW(parse_request("{"), ProbeError);
  EXPECT_THROW(parse_request("[]"), ProbeError);
  EXPECT_THROW(parse_request(R"({"id": "a"})"), ProbeError);
  EXPECT_THROW(parse_request(R"({"id": "a", "probe": "null", "slice_s": "long"})"), ProbeError);
}

}  // namespace
}  // namespace nameplate
