// Kernels for the peak integer rate: one per instruction set, element, mix and number of chains. The 8-bit dot product
// (VNNI) and the matrix unit (AMX) have files of their own, since they are not chains of one type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa.h"
#include "kernels/rate_kernel.h"

namespace nameplate {

enum class IntegerMix {
  add,
  mul,
  mixed,  // +, −, ×, ÷ in equal parts; scalar only, since no vector unit divides integers
};

IntegerMix parse_integer_mix(std::string_view name);

// Returns the kernels of this kind, one per number of chains; none if the instruction set lacks the instruction. T is
// std::int32_t or std::int64_t. Call only after why_not(isa) returned nothing.
template <class T>
std::vector<RateKernel> intops_kernels(Isa isa, IntegerMix mix);

// Returns the kernel of IntegerMix::mixed whose operands are in memory, as without optimisation.
template <class T>
std::vector<RateKernel> unoptimised_intops_kernels();

}  // namespace nameplate
