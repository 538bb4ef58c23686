#include "kernels/flops.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/executed_steps.h"
#include "kernels/flops_variants.h"
#include "kernels/operands.h"
#include "kernels/unoptimised.h"

namespace nameplate {

namespace {

int period(FloatMix mix) { return mix == FloatMix::add_mul || mix == FloatMix::mixed ? 4 : 2; }

// One element of one chain, step by step: the same operations in the same order as flops_variants.cpp, written for
// readability and compiled without contraction, so that every rounding is equal to the kernel's.
template <class T>
T replay_step(FloatMix mix, int step, std::size_t chain, T x, const std::array<T, 4>& c) {
  const bool forth = step % 2 == 0;
  const bool fused = mix == FloatMix::fma || (mix == FloatMix::fma_add && chain % 2 == 0);
  if (fused) return forth ? std::fma(x, c[0], c[1]) : std::fma(x, c[2], c[3]);
  if (mix == FloatMix::add || mix == FloatMix::fma_add) return forth ? x + c[1] : x - c[1];
  if (mix == FloatMix::mul) return x * (forth ? c[0] : c[2]);
  if (mix == FloatMix::div) return x / (forth ? c[0] : c[2]);
  const std::size_t shift = mix == FloatMix::add_mul ? 2 * (chain % 2) : chain % 4;
  switch ((static_cast<std::size_t>(step) + shift) % 4) {
    case 0: return x + c[1];
    case 1: return x * c[0];
    case 2: return mix == FloatMix::mixed ? x / c[0] : x * c[2];
    default: return x - c[1];
  }
}

template <class T>
T replay(FloatMix mix, const ChainBlock<T>& block, std::size_t element) {
  const std::size_t chain = element / block.lanes;
  T x = block.start[element];
  for (std::uint64_t round = 0; round < block.rounds; ++round) {
    for (int step = 0; step < period(mix); ++step) x = replay_step(mix, step, chain, x, block.constants);
  }
  return x;
}

unsigned half_operations(FloatMix mix) {
  if (mix == FloatMix::fma) return 4;
  return mix == FloatMix::fma_add ? 3 : 2;
}

template <class T>
RateKernel make_kernel(FloatMix mix, std::size_t lanes, const ChainVariant<T>& variant) {
  OperandSource source;
  ChainBlock<T> block;
  block.lanes = lanes;
  block.variant = variant;
  block.start.resize(static_cast<std::size_t>(variant.chains) * lanes);
  for (T& x : block.start) x = static_cast<T>(source.uniform(1, 2));
  const T a = static_cast<T>(source.uniform(1.25, 1.75));
  const T b = static_cast<T>(source.uniform(0.5, 1));
  block.constants = {a, b, 1 / a, -b / a};
  block.rounds = kExecutedSteps / static_cast<std::uint64_t>(period(mix));
  block.replay = [mix](const ChainBlock<T>& made, std::size_t element) { return replay(mix, made, element); };
  return make_rate_kernel(std::move(block), half_operations(mix));
}

}  // namespace

const std::vector<std::string>& float_mix_names() {
  static const std::vector<std::string> kNames = {"fma", "add", "mul", "div", "add+mul", "mixed", "fma+add"};
  return kNames;
}

std::string to_string(FloatMix mix) { return float_mix_names().at(static_cast<std::size_t>(mix)); }

FloatMix parse_float_mix(std::string_view name) {
  const auto& names = float_mix_names();
  return static_cast<FloatMix>(std::ranges::find(names, name) - names.begin());
}

template <class T>
std::vector<RateKernel> flops_kernels(Isa isa, FloatMix mix) {
  const ChainVariants<T> table = flops_variants<T>(isa, mix);
  std::vector<RateKernel> kernels;
  for (const ChainVariant<T>& variant : table.variants) kernels.push_back(make_kernel(mix, table.lanes, variant));
  return kernels;
}

template <class T>
std::vector<RateKernel> unoptimised_flops_kernels() {
  const ChainVariants<T> table = unoptimised_variants<T>();
  return {make_kernel(FloatMix::mixed, table.lanes, table.variants.front())};
}

template std::vector<RateKernel> unoptimised_flops_kernels<float>();
template std::vector<RateKernel> unoptimised_flops_kernels<double>();
template std::vector<RateKernel> flops_kernels<float>(Isa isa, FloatMix mix);
template std::vector<RateKernel> flops_kernels<double>(Isa isa, FloatMix mix);

}  // namespace nameplate
