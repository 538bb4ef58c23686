#include "rounds/json_line.h"

#include <gtest/gtest.h>

#include <string>

namespace nameplate {
namespace {

using std::string_view;

JsonLine cut_line(string_view line) {
  JsonLine result;
  EXPECT_TRUE(cut(line, result)) << line;
  return result;
}

TEST(JsonLine, IsCutIntoNumbersAndWhatIsBetween) {
  const JsonLine line = cut_line(R"({"a":1,"b":{"c":-2.5e-3},"d":[1,2],"e":"x 7"})");
  EXPECT_EQ(line.numbers, (std::vector<string_view>{"1", "-2.5e-3", "[1,2]"}));
  EXPECT_EQ(line.between, (std::vector<string_view>{R"({"a":)", R"(,"b":{"c":)", R"(},"d":)", R"(,"e":"x 7"})"}));
  EXPECT_EQ(line.text_of("e"), "x 7");
  EXPECT_EQ(line.text_of("f"), "");
}

TEST(JsonLine, ANumberIsFoundByTheKeysThatLeadToIt) {
  const JsonLine line = cut_line(R"({"a":1,"b":{"a":2,"c":{"a":3}},"w":[{"a":4},{"b":{"a":5}}],"m":[6,"x"]})");
  EXPECT_EQ(line.number_at({.parent = {}, .key = "a"}), 1.0);
  EXPECT_EQ(line.number_at({.parent = "b", .key = "a"}), 2.0);
  EXPECT_EQ(line.number_at({.parent = "c", .key = "a"}), std::nullopt);
  EXPECT_EQ(line.number_at({.parent = "w", .key = "a"}), std::nullopt);
  EXPECT_EQ(line.number_at({.parent = {}, .key = ""}), std::nullopt);
  EXPECT_EQ(line.number_at({.parent = "m", .key = ""}), std::nullopt);
}

TEST(JsonLine, AKeyThatOccursTwiceHasNeitherTextNorNumber) {
  EXPECT_EQ(cut_line(R"({"a":"x","a":"y"})").text_of("a"), "");
  EXPECT_EQ(cut_line(R"({"a":1,"a":2})").number_at({.parent = {}, .key = "a"}), std::nullopt);
}

TEST(JsonLine, EscapeSequencesAndDeepNestingAreRefused) {
  JsonLine result;
  EXPECT_FALSE(cut(R"({"a\n":1})", result));
  EXPECT_FALSE(cut(R"({"a":"unfinished)", result));
  EXPECT_FALSE(cut(std::string(100, '['), result));
  EXPECT_FALSE(cut("}}", result));
}

TEST(JsonLine, AnArrayOfOtherThingsIsNoNumber) {
  EXPECT_EQ(cut_line(R"({"a":["1"],"b":[[1],2]})").numbers, (std::vector<string_view>{"[1]", "2"}));
  EXPECT_EQ(cut_line(R"({"a":[]})").numbers, (std::vector<string_view>{"[]"}));
}

TEST(NumberOf, ReadsWhatJsonAllows) {
  for (const auto& [text, value] :
       {std::pair("0", 0.0), std::pair("-0.5", -0.5), std::pair("12e2", 1200.0), std::pair("1E-3", 1e-3),
        std::pair("0.00011400000000000299", 0.00011400000000000299)}) {
    const auto number = number_of(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(number->value, value);
    EXPECT_EQ(number->is_integer, string_view(text) == "0") << text;
  }
}

TEST(NumberOf, RefusesEverythingElse) {
  for (const char* const text :
       {"", "-", "01", "1.", ".5", "+1", "1e", "1e+", "1-2", "1.2.3", "0x1", "nan", "1e999", "1 "}) {
    EXPECT_FALSE(number_of(text)) << text;
  }
}

}  // namespace
}  // namespace nameplate
