// Kernels for Intel's matrix unit (AMX): tiles of 16 rows × 64 bytes; bf16 with fp32 sums (tdpbf16ps) and int8 with
// int32 sums (tdpbssd).
#pragma once

#include <vector>

#include "kernels/rate_kernel.h"

namespace nameplate {

// One kernel each. Call only after why_not(Isa::amx) returned nothing.
std::vector<RateKernel> amx_bf16_kernels();
std::vector<RateKernel> amx_int8_kernels();

}  // namespace nameplate
