// Integer arithmetic at full rate: one kernel per instruction set, element, mix and number of chains; the 8-bit dot
// product (VNNI) and the matrix unit (AMX) have files of their own, since they are no chains of one type.
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
  mixed,  // +, −, ×, ÷ in equal parts; no vector unit divides integers, so scalar only
};

IntegerMix parse_integer_mix(std::string_view name);

// Every kernel of this kind, one for each number of chains; none where the instruction set has no such instruction.
// T is std::int32_t or std::int64_t. Call only after why_not(isa) found nothing.
template <class T>
std::vector<RateKernel> intops_kernels(Isa isa, IntegerMix mix);

}  // namespace nameplate
