#include "kernels/linear_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace nameplate {
namespace {

using Matrix = std::vector<std::vector<double>>;  // by column; the last one is b

Matrix make_system(std::size_t n) {
  Matrix columns(n + 1, std::vector<double>(n));
  for (std::size_t column = 0; column <= n; ++column) fill_column(columns[column], static_cast<std::int64_t>(column));
  return columns;
}

std::vector<double> solved(Matrix columns) {
  const std::size_t n = columns.size() - 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k; row < n; ++row) {
      if (std::abs(columns[k][row]) > std::abs(columns[k][pivot])) pivot = row;
    }
    for (auto& column : columns) std::swap(column[k], column[pivot]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == k) continue;
      const double factor = columns[k][row] / columns[k][k];
      for (std::size_t column = k; column <= n; ++column) columns[column][row] -= factor * columns[column][k];
    }
  }
  std::vector<double> x(n);
  for (std::size_t row = 0; row < n; ++row) x[row] = columns[n][row] / columns[row][row];
  return x;
}

constexpr std::size_t kUnknowns = 60;

double residual_of(const std::vector<double>& x) {
  return scaled_residual(row_errors(0, static_cast<std::int64_t>(x.size()), x), x);
}

TEST(LinearSystem, ElementsAreUniformAboutZeroAndAllDifferent) {
  double sum = 0;
  double squares = 0;
  std::vector<double> all;
  for (const auto& column : make_system(200)) all.insert(all.end(), column.begin(), column.end());
  for (const double element : all) {
    EXPECT_GE(element, -0.5);
    EXPECT_LT(element, 0.5);
    sum += element;
    squares += element * element;
  }
  const auto count = static_cast<double>(all.size());
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1.0 / 12, 0.002);
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST(LinearSystem, OnlyTheSolutionHasASmallResidual) {
  std::vector<double> x = solved(make_system(kUnknowns));
  EXPECT_LT(residual_of(x), 16);
  x[kUnknowns / 2] *= 1 + 1e-9;
  EXPECT_GT(residual_of(x), 16);
}

TEST(LinearSystem, TheResidualFollowsFromTheErrorsOfTheElements) {
  const std::vector<double> x(kUnknowns, 1.0);
  const Matrix columns = make_system(kUnknowns);
  double residual = 0;
  double norm = 0;
  for (std::size_t row = 0; row < kUnknowns; ++row) {
    double sum = -columns[kUnknowns][row];
    double magnitudes = 0;
    for (std::size_t column = 0; column < kUnknowns; ++column) {
      sum += columns[column][row];
      magnitudes += std::abs(columns[column][row]);
    }
    residual = std::max(residual, std::abs(sum));
    norm = std::max(norm, magnitudes);
  }
  const RowErrors errors = row_errors(0, kUnknowns, x);
  EXPECT_DOUBLE_EQ(errors.residual, residual);
  EXPECT_DOUBLE_EQ(errors.norm_a, norm);
  EXPECT_NEAR(scaled_residual(errors, x), residual / (0x1p-53 * (norm + errors.norm_b) * kUnknowns),
              1e-3 * residual_of(x));
  EXPECT_NEAR(intel_residual(errors, x), residual / (0x1p-53 * norm * kUnknowns), 1e-3 * residual_of(x));
}

TEST(LinearSystem, PartsOfTheRowsAddUpToAll) {
  const std::vector<double> x(kUnknowns, 1.0);
  const RowErrors both = worse(row_errors(0, 7, x), row_errors(7, kUnknowns, x));
  const RowErrors all = row_errors(0, kUnknowns, x);
  EXPECT_EQ(both.residual, all.residual);
  EXPECT_EQ(both.norm_a, all.norm_a);
  EXPECT_EQ(both.norm_b, all.norm_b);
}

TEST(LinearSystem, ANaNAnywhereIsNoSolution) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const std::size_t index : {std::size_t{0}, kUnknowns - 1}) {
      std::vector<double> x = solved(make_system(kUnknowns));
      x[index] = bad;
      EXPECT_EQ(residual_of(x), std::numeric_limits<double>::max());
    }
  }
  const RowErrors good;
  const RowErrors bad = {.residual = std::nan("")};
  EXPECT_TRUE(std::isnan(worse(good, bad).residual));
  EXPECT_TRUE(std::isnan(worse(bad, good).residual));
}

}  // namespace
}  // namespace nameplate
