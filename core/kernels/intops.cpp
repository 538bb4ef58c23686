#include "kernels/intops.h"

#include <limits>
#include <type_traits>

#include "kernels/executed_steps.h"
#include "kernels/intops_variants.h"
#include "kernels/operands.h"
#include "kernels/unoptimised.h"

namespace nameplate {

namespace {

int period(IntegerMix mix) { return mix == IntegerMix::mixed ? 4 : 2; }

// The same operations in the same order as intops_variants.cpp; unsigned, since its overflow is defined to wrap.
template <class T>
T replay_step(IntegerMix mix, std::size_t step, std::size_t chain, T x, const std::array<T, 4>& c) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto u = static_cast<Unsigned>(x);
  const auto term = [&c](std::size_t i) { return static_cast<Unsigned>(c.at(i)); };
  if (mix == IntegerMix::add) return static_cast<T>(u + term(step % 2 == 0 ? 1 : 3));
  if (mix == IntegerMix::mul) return static_cast<T>(u * term(0));
  switch ((step + chain) % 4) {
    case 0: return static_cast<T>(u + term(1));
    case 1: return static_cast<T>(u - term(3));
    case 2: return static_cast<T>(u * term(0));
    default: return static_cast<T>(x / c[2]);
  }
}

template <class T>
T replay(IntegerMix mix, const ChainBlock<T>& block, std::size_t element) {
  const std::size_t chain = element / block.lanes;
  T x = block.start[element];
  for (std::uint64_t round = 0; round < block.rounds; ++round) {
    for (int step = 0; step < period(mix); ++step) {
      x = replay_step(mix, static_cast<std::size_t>(step), chain, x, block.constants);
    }
  }
  return x;
}

template <class T>
RateKernel make_kernel(IntegerMix mix, std::size_t lanes, const ChainVariant<T>& variant) {
  OperandSource source;
  ChainBlock<T> block;
  block.lanes = lanes;
  block.variant = variant;
  block.start.resize(static_cast<std::size_t>(variant.chains) * lanes);
  for (T& x : block.start) x = static_cast<T>(source.next());
  // The time of a division depends on its operands: a divisor of 2 to 16 bits leaves a quotient with most of the bits.
  constexpr double kSmallestDivisor = 3;
  constexpr double kLargestDivisor = 65536;
  block.constants = {static_cast<T>(source.next() | 1U), static_cast<T>(source.next()),
                     static_cast<T>(source.uniform(kSmallestDivisor, kLargestDivisor)), static_cast<T>(source.next())};
  block.rounds = kExecutedSteps / static_cast<std::uint64_t>(period(mix));
  block.replay = [mix](const ChainBlock<T>& made, std::size_t element) { return replay(mix, made, element); };
  constexpr unsigned kOneOperation = 2;
  return make_rate_kernel(std::move(block), kOneOperation);
}

}  // namespace

IntegerMix parse_integer_mix(std::string_view name) {
  if (name == "add") return IntegerMix::add;
  return name == "mul" ? IntegerMix::mul : IntegerMix::mixed;
}

template <class T>
std::vector<RateKernel> intops_kernels(Isa isa, IntegerMix mix) {
  const ChainVariants<T> table = intops_variants<T>(isa, mix);
  std::vector<RateKernel> kernels;
  for (const ChainVariant<T>& variant : table.variants) kernels.push_back(make_kernel(mix, table.lanes, variant));
  return kernels;
}

template <class T>
std::vector<RateKernel> unoptimised_intops_kernels() {
  const ChainVariants<T> table = unoptimised_variants<T>();
  return {make_kernel(IntegerMix::mixed, table.lanes, table.variants.front())};
}

template std::vector<RateKernel> unoptimised_intops_kernels<std::int32_t>();
template std::vector<RateKernel> unoptimised_intops_kernels<std::int64_t>();
template std::vector<RateKernel> intops_kernels<std::int32_t>(Isa isa, IntegerMix mix);
template std::vector<RateKernel> intops_kernels<std::int64_t>(Isa isa, IntegerMix mix);

}  // namespace nameplate
