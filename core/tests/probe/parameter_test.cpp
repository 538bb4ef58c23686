#include "probe/parameter.h"

#include <gtest/gtest.h>

#include "probe/error.h"

namespace nameplate {
namespace {

TEST(ParseSize, KnowsBothKindsOfPrefix) {
  EXPECT_EQ(parse_size("8"), 8);
  EXPECT_EQ(parse_size("8B"), 8);
  EXPECT_EQ(parse_size("8KiB"), 8192);
  EXPECT_EQ(parse_size("80MB"), 80'000'000);
  EXPECT_EQ(parse_size("1.5GiB"), 1'610'612'736);
  EXPECT_EQ(parse_size("1TiB"), std::int64_t{1} << 40);
}

TEST(ParseSize, RejectsInvalidSizes) {
  for (const char* text : {"", "KiB", "8kb", "8 KiB", "-8", "nan", "inf", "8KiBx", "0.5", "1e400"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, KnowsItsUnits) {
  EXPECT_DOUBLE_EQ(*parse_duration("10ms"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_duration("2s"), 2);
  EXPECT_DOUBLE_EQ(*parse_duration("1.5min"), 90);
  EXPECT_DOUBLE_EQ(*parse_duration("0.25"), 0.25);
  EXPECT_EQ(parse_duration("10 ms"), std::nullopt);
  EXPECT_EQ(parse_duration("-1s"), std::nullopt);
}

std::vector<Parameter> declared() {
  return {choice("op", "", {"read", "write"}, "read"), integer("depth", "", 1, 64, "8"), threads_parameter()};
}

TEST(CheckParameters, FillsInDefaultsAndLeavesAutomaticOnesOpen) {
  const Parameters parameters = check_parameters(declared(), {{"depth", 4}});
  EXPECT_EQ(parameters.word("op"), "read");
  EXPECT_EQ(parameters.count("depth"), 4);
  EXPECT_EQ(parameters.count_if_given("threads"), std::nullopt);
}

std::string complaint(const nlohmann::json& given) {
  try {
    check_parameters(declared(), given);
  } catch (const ProbeError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckParameters, ReportsTheErrorAndTheValidValues) {
  EXPECT_EQ(complaint({{"op", "wipe"}}), "op=wipe: not possible; use one of read, write");
  EXPECT_EQ(complaint({{"depth", 65}}), "depth=65: not possible; use 1 to 64");
  EXPECT_EQ(complaint({{"depth", "many"}}), "depth=many: not possible; use a whole number");
  EXPECT_EQ(complaint({{"dept", 1}}), "unknown parameter 'dept'");
  EXPECT_NE(complaint(nlohmann::json::array()), "");
}

}  // namespace
}  // namespace nameplate
