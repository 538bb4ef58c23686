// Floating-point arithmetic at full rate: one kernel per instruction set, precision, mix and number of chains.
//
// Operands are random mantissas in [1, 2), different in every chain and lane, and stay bounded for any number of steps:
// every mix is a sequence followed by its inverse. Zeros, infinities or equal values would switch fewer transistors and
// flatter the clock.
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
  add,      // + and − in turn
  mul,      // ×
  div,      // ÷
  add_mul,  // + and × in equal parts, each an instruction of its own
  mixed,    // +, ×, ÷, − in equal parts
  fma_add,  // an fma and an addition side by side, for CPUs with adders beside their multipliers
};

std::string to_string(FloatMix mix);
FloatMix parse_float_mix(std::string_view name);
const std::vector<std::string>& float_mix_names();

// Every kernel of this kind, one for each number of chains; none where the instruction set has no such instruction.
// T is float or double. Call only after why_not(isa) found nothing.
template <class T>
std::vector<RateKernel> flops_kernels(Isa isa, FloatMix mix);

}  // namespace nameplate
