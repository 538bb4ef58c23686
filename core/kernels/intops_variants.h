// The interface between intops.cpp and the code compiled for one instruction set.
#pragma once

#include "kernels/chain_block.h"
#include "kernels/intops.h"

namespace nameplate {

template <class T>
ChainVariants<T> intops_variants(Isa isa, IntegerMix mix);

template <>
ChainVariants<std::int32_t> intops_variants(Isa isa, IntegerMix mix);
template <>
ChainVariants<std::int64_t> intops_variants(Isa isa, IntegerMix mix);

}  // namespace nameplate
