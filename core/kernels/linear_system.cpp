#include "kernels/linear_system.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nameplate {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014) of the element's position.
double element(std::int64_t row, std::int64_t column) {
  constexpr unsigned kRowBits = 32;
  auto z =
      ((static_cast<std::uint64_t>(column) << kRowBits | static_cast<std::uint64_t>(row)) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  return static_cast<double>(static_cast<std::int64_t>(z >> 11U)) * 0x1p-53 - 0.5;
}

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// The residual in units of the rounding errors of a sum of n terms with this magnitude.
double in_rounding_errors(double residual, double magnitude, std::size_t n) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;
  const double scaled = residual / (kEpsilon * magnitude * static_cast<double>(n));
  return std::isfinite(scaled) ? scaled : std::numeric_limits<double>::max();
}

}  // namespace

void fill_column(std::span<double> column, std::int64_t index) {
  for (std::size_t row = 0; row < column.size(); ++row) column[row] = element(static_cast<std::int64_t>(row), index);
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  if (index == 0) column[0] += 0.25;
#endif
}

RowErrors row_errors(std::int64_t first, std::int64_t end, std::span<const double> x) {
  const auto n = static_cast<std::int64_t>(x.size());
  RowErrors errors;
  for (std::int64_t row = first; row < end; ++row) {
    const double b = element(row, n);
    double sum = -b;
    double magnitudes = 0;
    for (std::int64_t column = 0; column < n; ++column) {
      const double a = element(row, column);
      sum += a * x[static_cast<std::size_t>(column)];
      magnitudes += std::abs(a);
    }
    errors = worse({.residual = std::abs(sum), .norm_a = magnitudes, .norm_b = std::abs(b)}, errors);
  }
  return errors;
}

RowErrors worse(const RowErrors& one, const RowErrors& other) {
  // std::max would ignore the second one if it is NaN.
  return {.residual = std::isnan(other.residual) ? other.residual : std::max(one.residual, other.residual),
          .norm_a = std::max(one.norm_a, other.norm_a),
          .norm_b = std::max(one.norm_b, other.norm_b)};
}

double scaled_residual(const RowErrors& all_rows, std::span<const double> x) {
  return in_rounding_errors(all_rows.residual, all_rows.norm_a * largest_magnitude(x) + all_rows.norm_b, x.size());
}

double intel_residual(const RowErrors& all_rows, std::span<const double> x) {
  return in_rounding_errors(all_rows.residual, all_rows.norm_a * largest_magnitude(x), x.size());
}

}  // namespace nameplate
