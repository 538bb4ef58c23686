// The loop of the working set: four results from the same four operands, with the coefficients rotated,
//   x[i+k] = Σ_j coefficient[(j+k) mod 4] · y[i+j],  i in steps of four,  k and j from 0 to 3,
// 16 multiplications and 12 additions per group (the kernel of the cse557-now study, 2000).
//
// Operands are small multiples of 2^-16 and coefficients of 2^-6, so every sum is exact and no order or fusion of the
// operations changes a bit of the result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/isa.h"

namespace nameplate {

inline constexpr std::uint64_t kWorksetGroup = 4;   // elements
inline constexpr std::uint64_t kWorksetFlops = 28;  // per group
inline constexpr std::array<double, 4> kWorksetCoefficients = {1.25, 0.515625, -1.640625, 0.75};

// Runs `passes` passes over `count` elements, a multiple of four.
using WorksetLoop = void (*)(double* x, const double* y, std::size_t count, std::uint64_t passes);

// Returns the loop as plain C++ that compiles to scalar instructions.
WorksetLoop plain_workset_loop();
// Returns the vectorised loop. Call only after why_not(isa) returned nothing.
WorksetLoop vector_workset_loop(Isa isa);

// Return the operand y[index], and the result x[index] by the formula above, in plain scalar code.
double workset_operand(std::size_t index);
double workset_result(std::size_t index);

}  // namespace nameplate
