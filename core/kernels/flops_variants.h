// The interface between flops.cpp and the code compiled for one instruction set.
#pragma once

#include "kernels/chain_block.h"
#include "kernels/flops.h"

namespace nameplate {

template <class T>
ChainVariants<T> flops_variants(Isa isa, FloatMix mix);

template <>
ChainVariants<float> flops_variants(Isa isa, FloatMix mix);
template <>
ChainVariants<double> flops_variants(Isa isa, FloatMix mix);

}  // namespace nameplate
