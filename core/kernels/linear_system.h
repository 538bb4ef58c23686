// A system of linear equations Ax = b that need not be kept: every element follows from its place, so that A can be
// made again, by any number of threads, after a solver has overwritten it.
//
// Elements are uniform in [-0.5, 0.5), as HPL has them (netlib.org/benchmark/hpl).
#pragma once

#include <cstdint>
#include <span>

namespace nameplate {

// Fills one column of A; column n, for n unknowns, is b.
void fill_column(std::span<double> column, std::int64_t index);

// What the rows [begin, end) say of a solution x. Norms are the largest sums of absolute values in a row.
struct RowErrors {
  double residual = 0;  // the largest |Ax - b|
  double norm_a = 0;
  double norm_b = 0;
};
RowErrors row_errors(std::int64_t begin, std::int64_t end, std::span<const double> x);

// The larger of each.
RowErrors worse(const RowErrors& one, const RowErrors& other);

// HPL's: |Ax - b| / (eps (|A| |x| + |b|) n) in the norm of the largest row sum, where eps is the largest error of a
// rounding, 2^-53. The largest double where that is no number.
double scaled_residual(const RowErrors& all_rows, std::span<const double> x);

}  // namespace nameplate
