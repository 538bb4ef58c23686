#include "rounds/round_values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace nameplate {
namespace {

using nlohmann::json;

json product(const std::vector<std::string>& times, const std::vector<std::string>& over = {}) {
  return json::array({{{"times", times}, {"over", over}}});
}

// The time of an operation of each of several chains.
const json kQuotient = {{"numerator", product({"sample/elapsed_s", "outcome/params/depth"})},
                        {"denominator", product({"sample/work/ops"}, {"outcome/params/chains"})}};

std::string sample(double elapsed_s, int ops, const std::string& more = "") {
  return fmt::format(R"({{"type":"sample","round":1,"id":"x","elapsed_s":{:.3f},"work":{{"ops":{}}}{}}})"
                     "\n",
                     elapsed_s, ops, more);
}

std::string outcome(const std::string& ending = "ok", const std::string& id = "x", int round = 1) {
  return fmt::format(
      R"({{"type":"outcome","round":{},"id":"{}","probe":"p","ending":"{}","params":{{"depth":3,"chains":2}}}})"
      "\n",
      round, id, ending);
}

RoundTexts replaced(const std::string& text, const std::vector<json>& formulas) {
  FormulasByProbe by_probe;
  for (const json& formula : formulas) by_probe["p"].push_back(formula_from(formula));
  RoundTexts result;
  replace_samples(text, by_probe, result);
  return result;
}

json values(const std::string& text, const std::vector<json>& formulas) {
  const std::string result = replaced(text, formulas).values;
  return json::parse(result.substr(0, result.find('\n'))).at("values");
}

std::string without_newline(const std::string& line) { return line.substr(0, line.size() - 1); }

TEST(RoundValues, TheMedianQuotientTakesThePlaceOfTheSamples) {
  const std::string header = "{\"type\":\"header\",\"schema\":1}\n";
  const std::string first = sample(1, 10) + sample(4, 10) + sample(2, 10) + outcome();
  const std::string kept = sample(1, 1) + outcome("failed");
  const RoundTexts texts = replaced(header + first + kept + sample(2, 5) + outcome(), {kQuotient});
  EXPECT_EQ(texts.kept, header + outcome() + kept + outcome());
  EXPECT_EQ(texts.values, R"({"type":"values","line":2,"values":[1.2]})"
                          "\n"
                          R"({"type":"values","line":5,"values":[2.4]})"
                          "\n"
                          R"({"type":"ranges","lowest":)" +
                              without_newline(sample(1, 5)) + R"(,"highest":)" + without_newline(sample(4, 10)) +
                              "}\n");
}

TEST(RoundValues, SamplesWithoutDivisorAreLeftOut) {
  EXPECT_EQ(values(sample(1, 0) + sample(2, 10) + outcome(), {kQuotient}), json::array({1.2}));
  EXPECT_EQ(values(sample(1, 0) + outcome(), {kQuotient}), json::array({nullptr}));
}

TEST(RoundValues, AMetricWithoutItsPlaceCannotBeComputed) {
  const json missing = {{"numerator", product({"sample/counters/lost"})}, {"denominator", product({})}};
  const json no_param = {{"numerator", product({"outcome/params/threads"})}, {"denominator", product({})}};
  EXPECT_EQ(values(sample(1, 10) + outcome(), {missing, kQuotient, no_param}), json::array({false, 0.6, false}));
}

TEST(RoundValues, AValueBeyondTheRangeCannotBeComputed) {
  const json huge = {{"numerator", product({"outcome/params/depth"}, {"sample/work/ops"})},
                     {"denominator", product({})}};
  EXPECT_EQ(values(sample(1, 0) + outcome(), {huge}), json::array({false}));
}

TEST(RoundValues, ASumAddsItsProducts) {
  json both = product({"sample/work/ops"});
  both.push_back(product({"outcome/params/chains"})[0]);
  EXPECT_EQ(values(sample(1, 10) + outcome(), {{{"numerator", both}, {"denominator", product({})}}}),
            json::array({12}));
}

TEST(RoundValues, APercentileIsOfAllOperationsOfTheRound) {
  const std::string text = sample(1, 1, R"(,"histogram":{"lower_ns":[1000,100],"count":[5,5]})") +
                           sample(1, 1, R"(,"histogram":{"lower_ns":[1000],"count":[15]})") + outcome();
  // 1000 ns begin a bucket of 2 ns; above the 90th percentile are fewer than ten operations.
  EXPECT_EQ(values(text, {{{"share", 0.5}}, {{"share", 0.9}}, {{"share", 1.0}}}),
            json::array({1000.5e-9, nullptr, 1000.5e-9}));
  EXPECT_EQ(values(sample(1, 1) + outcome(), {{{"share", 0.5}}}), json::array({nullptr}));
}

TEST(RoundValues, AnythingUnusualIsKept) {
  const std::string other = R"({"type":"sample","round":2,"id":"x","elapsed_s":1.000,"work":{"ops":10}})"
                            "\n";
  for (const std::string& text :
       {sample(1, 10) + outcome("failed"), sample(1, 10) + outcome("ok", "y"), sample(1, 10) + outcome("ok", "x", 2),
        sample(1, 10) + sample(1, 10, R"(,"more":1)") + outcome(), sample(1, 10) + "{}\n" + outcome(),
        "{}\n" + sample(1, 10) + outcome(), sample(1, 10, R"(,"node":0)") + outcome(),
        sample(1, 10, R"(,"text":"\n")") + outcome(), sample(1, 10) + other + outcome(), sample(1, 10), outcome(),
        std::string("\n\n"), std::string()}) {
    const RoundTexts texts = replaced(text, {kQuotient});
    EXPECT_EQ(texts.kept, text);
    EXPECT_EQ(texts.values, "");
  }
  EXPECT_EQ(replaced(sample(1, 10) + outcome(), {}).kept, sample(1, 10) + outcome());
}

TEST(RoundValues, LongLinesAndManyKindsOfSamplesAreKept) {
  std::string numbers;
  for (int i = 0; i < 600'000; ++i) numbers += ",1";
  const std::string line = sample(1, 10, numbers) + outcome();
  EXPECT_EQ(replaced(line, {kQuotient}).kept, line);
  // Each sample has another form, so that there are as many ranges as numbers.
  const std::string fewer = numbers.substr(0, 400'000);
  std::string text;
  for (int i = 0; i < 8; ++i) text += sample(1, 10, fmt::format(R"(,"key{}":0{})", i, fewer)) + outcome();
  const RoundTexts texts = replaced(text, {kQuotient});
  EXPECT_EQ(std::ranges::count(texts.kept, '\n'), 8 + 3);
}

TEST(RoundValues, ALineLongerThanAnyRecordIsLeftToTheReader) {
  RoundTexts result;
  const std::string line(std::size_t{65} << 20U, '1');
  EXPECT_FALSE(replace_samples(outcome() + line + "\n" + outcome(), {}, result));
  EXPECT_FALSE(replace_samples(line, {}, result));
  EXPECT_TRUE(replace_samples(outcome() + line.substr(0, std::size_t{63} << 20U), {}, result));
}

TEST(RoundValues, ALastLineWithoutNewlineIsLeftOut) {
  EXPECT_EQ(replaced(outcome() + R"({"type":"sample","ro)", {kQuotient}).kept, outcome());
}

TEST(RoundValues, DigestsAreLeftOut) {
  const std::string digest = R"({"type":"figures","by":"x"})"
                             "\n";
  EXPECT_EQ(replaced(outcome() + digest + outcome(), {kQuotient}).kept, outcome() + outcome());
}

}  // namespace
}  // namespace nameplate
