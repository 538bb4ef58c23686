// The loops of mixed arithmetic, compiled without optimisation (-O0): every operand and the counter of the loop are in
// memory, from which each operation loads and to which it stores its result.
#pragma once

#include "kernels/chain_block.h"

namespace nameplate {

// Returns the loop of FloatMix::mixed for float and double, and that of IntegerMix::mixed for std::int32_t and
// std::int64_t, with one element in each of four chains.
template <class T>
ChainVariants<T> unoptimised_variants();

template <>
ChainVariants<float> unoptimised_variants();
template <>
ChainVariants<double> unoptimised_variants();
template <>
ChainVariants<std::int32_t> unoptimised_variants();
template <>
ChainVariants<std::int64_t> unoptimised_variants();

}  // namespace nameplate
