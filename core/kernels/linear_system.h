// A system of linear equations Ax = b that need not be stored: every element follows from its position, so that A can
// be generated again, by any number of threads, after a solver has overwritten it.
//
// Elements are uniform in [-0.5, 0.5), as in HPL (netlib.org/benchmark/hpl).
#pragma once

#include <cstdint>
#include <span>

namespace nameplate {

// Writes one column of A; column n, for n unknowns, is b.
void fill_column(std::span<double> column, std::int64_t index);

// The errors of a solution x in the rows [begin, end). Norms are maximum sums of absolute values in a row.
struct RowErrors {
  double residual = 0;  // the maximum |Ax - b|
  double norm_a = 0;
  double norm_b = 0;
};
RowErrors row_errors(std::int64_t first, std::int64_t end, std::span<const double> x);

// Returns the larger of each.
RowErrors worse(const RowErrors& one, const RowErrors& other);

// Returns HPL's residual |Ax - b| / (eps (|A| |x| + |b|) n) in the norm of the maximum row sum, where eps = 2^-53 is
// the maximum rounding error. NaN becomes the largest double.
double scaled_residual(const RowErrors& all_rows, std::span<const double> x);

// Returns |Ax - b| / (eps |A| |x| n), which Intel's LINPACK prints as "residual (norm)": in a published table of it,
// the quotient of the two residuals is eps |A| |x| n within 2 % for matrices like these and x = 1. NaN becomes the
// largest double.
double intel_residual(const RowErrors& all_rows, std::span<const double> x);

}  // namespace nameplate
