#include "kernels/workset.h"

#include <gtest/gtest.h>

#include <vector>

namespace nameplate {
namespace {

void expect_right(WorksetLoop loop, const std::string& label) {
  constexpr std::size_t kCount = 44;
  std::vector<double> x(kCount + 1, -1);
  std::vector<double> y(kCount);
  for (std::size_t i = 0; i < kCount; ++i) y[i] = workset_operand(i);
  loop(x.data(), y.data(), kCount, 3);
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(x[i], workset_result(i)) << label << " element " << i;
  EXPECT_EQ(x[kCount], -1) << label << " wrote behind its end";
}

TEST(WorksetLoops, AgreeWithTheFormulaBitForBit) {
  expect_right(plain_workset_loop(), "plain");
  for (const Isa isa : compiled_isas()) {
    if (!why_not(isa) && isa != Isa::amx) expect_right(vector_workset_loop(isa), to_string(isa));
  }
}

TEST(WorksetFormula, RotatesTheCoefficients) {
  const auto [a, b, c, d] = kWorksetCoefficients;
  const auto y = workset_operand;
  EXPECT_EQ(workset_result(4), a * y(4) + b * y(5) + c * y(6) + d * y(7));
  EXPECT_EQ(workset_result(5), b * y(4) + c * y(5) + d * y(6) + a * y(7));
  EXPECT_EQ(workset_result(6), c * y(4) + d * y(5) + a * y(6) + b * y(7));
  EXPECT_EQ(workset_result(7), d * y(4) + a * y(5) + b * y(6) + c * y(7));
}

}  // namespace
}  // namespace nameplate
