#include "batch/screen.h"

#include <gtest/gtest.h>

namespace nameplate {
namespace {

TEST(Brief, HasThreeDigitsAndAPrefix) {
  EXPECT_EQ(brief({116.4e9}, "FLOP/s"), "116 GFLOP/s");
  EXPECT_EQ(brief({3.7e9}, "Hz"), "3.70 GHz");
  EXPECT_EQ(brief({152e-9}, "s"), "152 ns");
  EXPECT_EQ(brief({99900}, "IOPS"), "99.9 kIOPS");
}

TEST(Brief, SeveralValuesShareAUnit) {
  EXPECT_EQ(brief({0.609e-3, 1.18e-3}, "s"), "0.609/1.18 ms");
  EXPECT_EQ(brief({0.609e-3, std::nullopt}, "s"), "609/– µs");
}

}  // namespace
}  // namespace nameplate
