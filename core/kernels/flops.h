// Kernels for the peak floating-point rate: one per instruction set, precision, mix and number of chains.
//
// Operands are random mantissas in [1, 2), different in every chain and lane. They stay bounded for any number of
// steps, since every mix is a sequence followed by its inverse. Zeros, infinities or equal values would switch fewer
// transistors and so allow a higher clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa.h"
#include "kernels/rate_kernel.h"

namespace nameplate {

enum class FloatMix {
  fma,      // x·a + b: two operations
  add,      // + and − alternately
  mul,      // ×
  div,      // ÷
  add_mul,  // + and × in equal parts, as separate instructions
  mixed,    // +, ×, ÷, − in equal parts
  fma_add,  // fma and addition side by side, for CPUs that have adders besides their multipliers
};

std::string to_string(FloatMix mix);
FloatMix parse_float_mix(std::string_view name);
const std::vector<std::string>& float_mix_names();

// Returns the kernels of this kind, one per number of chains; none if the instruction set lacks the instruction. T is
// float or double. Call only after why_not(isa) returned nothing.
template <class T>
std::vector<RateKernel> flops_kernels(Isa isa, FloatMix mix);

// Returns the kernel of FloatMix::mixed whose operands are in memory, as without optimisation.
template <class T>
std::vector<RateKernel> unoptimised_flops_kernels();

}  // namespace nameplate
