#include "rounds/sample_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace nameplate {
namespace {

constexpr Place kA{.parent = {}, .key = "a"};

SampleColumns columns_of(const std::vector<std::string>& lines) {
  SampleColumns result;
  EXPECT_TRUE(result.begin(lines.front()));
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_TRUE(result.add(lines[i])) << lines[i];
  return result;
}

TEST(SampleColumns, AColumnHasTheNumbersAtItsPlace) {
  const std::vector<std::string> lines = {R"({"id":"x","a":1.5,"w":{"b":7}})", R"({"id":"x","a":0.5,"w":{"b":8}})"};
  SampleColumns columns = columns_of(lines);
  ASSERT_TRUE(columns.read());
  EXPECT_EQ(columns.rows(), 2U);
  EXPECT_EQ(columns.id(), "x");
  EXPECT_TRUE(std::ranges::equal(columns.column(kA), std::vector{1.5, 0.5}));
  EXPECT_TRUE(std::ranges::equal(columns.column({.parent = "w", .key = "b"}), std::vector{7.0, 8.0}));
  EXPECT_TRUE(columns.column({.parent = "w", .key = "c"}).empty());
}

TEST(SampleColumns, OnlyNumbersMayDiffer) {
  const std::string first = R"({"id":"x","a":1,"h":[1,2]})";
  SampleColumns columns;
  ASSERT_TRUE(columns.begin(first));
  for (const char* const other :
       {R"({"id":"y","a":1,"h":[1,2]})", R"({"id":"x","a":1,"h":[1,2],"b":1})", R"({"id":"x","a":1,"h":[1,2]} )",
        R"({"id":"x","a":1})", R"({"id":"x","a":"1","h":[]})", R"({"id":"x","a":1,"h":{}})", "", R"({"id":"x","a":)"}) {
    EXPECT_FALSE(columns.add(other)) << other;
  }
  EXPECT_TRUE(columns.add(R"({"id":"x","a":-2e5,"h":[]})"));
  EXPECT_EQ(columns.rows(), 2U);
}

TEST(SampleColumns, TheExtremesOfEachColumnAreSamples) {
  const std::vector<std::string> lines = {R"({"a":1.5,"h":[3,9],"e":[]})", R"({"a":0.5,"h":[],"e":[]})",
                                          R"({"a":1.0,"h":[5],"e":[]})"};
  SampleColumns columns = columns_of(lines);
  ASSERT_TRUE(columns.read());
  const SampleRanges ranges(columns);
  EXPECT_EQ(ranges.lowest(), R"({"a":0.5,"h":[3],"e":[]})");
  EXPECT_EQ(ranges.highest(), R"({"a":1.5,"h":[9],"e":[]})");
}

// The line must outlive the columns.
SampleColumns columns_of_one(const std::string& line) {
  SampleColumns columns;
  EXPECT_TRUE(columns.begin(line));
  EXPECT_TRUE(columns.read());
  return columns;
}

TEST(SampleRanges, AreMergedIfOnlyNumbersDiffer) {
  const std::string first = R"({"a":1.5,"h":[]})";
  const std::string second = R"({"a":0.5,"h":[3,9]})";
  const std::string third = R"({"a":2.5,"h":[]})";
  SampleRanges ranges(columns_of_one(first));
  EXPECT_TRUE(ranges.merge(columns_of_one(second)));
  EXPECT_TRUE(ranges.merge(columns_of_one(third)));
  for (const char* const other :
       {R"({"a":1,"h":[]})", R"({"a":1.5,"h":[0.5]})", R"({"a":1.5,"h":3})", R"({"b":1.5,"h":[]})", R"({"a":1.5})"}) {
    const std::string line = other;
    EXPECT_FALSE(ranges.merge(columns_of_one(line))) << other;
  }
  EXPECT_EQ(ranges.lowest(), R"({"a":0.5,"h":[3]})");
  EXPECT_EQ(ranges.highest(), R"({"a":2.5,"h":[9]})");
}

TEST(SampleColumns, ExtremesAreFoundAmongNumbersInAllForms) {
  const std::vector<std::string> lines = {R"({"a":9.5,"b":7})",    R"({"a":10.25,"b":12})", R"({"a":1e1,"b":9})",
                                          R"({"a":2.5e-3,"b":8})", R"({"a":-0.5,"b":-3})",  R"({"a":10.125,"b":11})"};
  SampleColumns columns = columns_of(lines);
  ASSERT_TRUE(columns.read());
  EXPECT_EQ(SampleRanges(columns).lowest(), R"({"a":-0.5,"b":-3})");
  EXPECT_EQ(SampleRanges(columns).highest(), R"({"a":10.25,"b":12})");
}

TEST(SampleColumns, NumbersOfSeveralKindsAreNotRead) {
  for (const auto& [one, other] :
       {std::pair(R"({"a":1})", R"({"a":1.5})"), std::pair(R"({"a":1})", R"({"a":[1]})"),
        std::pair(R"({"a":1})", R"({"a":01})"), std::pair(R"({"a":[1]})", R"({"a":[1,]})"),
        std::pair(R"({"a":[1]})", R"({"a":[,1]})"), std::pair(R"({"a":1.0})", R"({"a":1e999})")}) {
    const std::vector<std::string> lines = {one, other};
    EXPECT_FALSE(columns_of(lines).read()) << other;
  }
}

TEST(SampleColumns, TheBucketsAreThoseOfAllSamples) {
  const std::vector<std::string> lines = {R"({"histogram":{"lower_ns":[5,9],"count":[1,2]}})",
                                          R"({"histogram":{"lower_ns":[],"count":[]}})",
                                          R"({"histogram":{"lower_ns":[7],"count":[3]}})"};
  SampleColumns columns = columns_of(lines);
  ASSERT_TRUE(columns.read());
  EXPECT_EQ(columns.buckets(), (std::vector<Bucket>{{5, 1}, {9, 2}, {7, 3}}));
}

TEST(SampleColumns, HistogramsOfWrongFormHaveNoBuckets) {
  for (const char* const line :
       {R"({"histogram":{"lower_ns":[5,9],"count":[1]}})", R"({"histogram":{"lower_ns":[-5],"count":[1]}})",
        R"({"histogram":{"lower_ns":[5]}})", R"({"histogram":{"lower_ns":5,"count":[1]}})",
        R"({"histogram":{"lower_ns":[5],"count":[9007199254740993]}})",
        R"({"histogram":{"lower_ns":[5,6],"count":[9007199254740991,2]}})"}) {
    const std::vector<std::string> lines = {line};
    SampleColumns columns = columns_of(lines);
    ASSERT_TRUE(columns.read());
    EXPECT_EQ(columns.buckets(), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace nameplate
