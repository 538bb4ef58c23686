// The loops themselves, compiled once per instruction set.

#include "kernels/flops_variants.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/flops_variants.cpp"
#include <hwy/foreach_target.h>  // NOLINT: includes this file again, once for each target
#include <hwy/highway.h>

#include "kernels/chains-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nameplate {
namespace HWY_NAMESPACE {

// The constants: c0 = a, c1 = b, c2 = 1/a, c3 = −b/a.
template <class Float, FloatMix kMix>
struct FloatOperations {
  using T = Float;
  static constexpr int kPeriod = kMix == FloatMix::add_mul || kMix == FloatMix::mixed ? 4 : 2;

  template <int kStep, int kChain, class V>
  static HWY_INLINE V step(V x, V c0, V c1, V c2, V c3) {
    constexpr bool kForth = kStep % 2 == 0;
    if constexpr (kMix == FloatMix::fma || (kMix == FloatMix::fma_add && kChain % 2 == 0)) {
      return kForth ? hn::MulAdd(x, c0, c1) : hn::MulAdd(x, c2, c3);
    } else if constexpr (kMix == FloatMix::add || kMix == FloatMix::fma_add) {
      return kForth ? hn::Add(x, c1) : hn::Sub(x, c1);
    } else if constexpr (kMix == FloatMix::mul) {
      return hn::Mul(x, kForth ? c0 : c2);
    } else if constexpr (kMix == FloatMix::div) {
      return hn::Div(x, kForth ? c0 : c2);
    } else {
      return four_step<kStep, kChain>(x, c0, c1, c2);
    }
  }

  // +b, ×a, then back by ×(1/a) or ÷a, −b. The chains start at different steps, so that all kinds of instruction can be
  // issued at any moment.
  template <int kStep, int kChain, class V>
  static HWY_INLINE V four_step(V x, V c0, V c1, V c2) {
    constexpr int kShift = kMix == FloatMix::add_mul ? 2 * (kChain % 2) : kChain % 4;
    constexpr int kPhase = (kStep + kShift) % 4;
    if constexpr (kPhase == 0) return hn::Add(x, c1);
    if constexpr (kPhase == 1) return hn::Mul(x, c0);
    if constexpr (kPhase == 2) return kMix == FloatMix::mixed ? hn::Div(x, c0) : hn::Mul(x, c2);
    if constexpr (kPhase == 3) return hn::Sub(x, c1);
  }
};

template <class T, FloatMix kMix>
std::vector<ChainVariant<T>> every_number_of_chains() {
  using Operations = FloatOperations<T, kMix>;
  // Of 16 registers, four hold constants, so at most 12 chains fit.
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
  return {{8, run_chains<Operations, 8>},
          {12, run_chains<Operations, 12>},
          {16, run_chains<Operations, 16>},
          {20, run_chains<Operations, 20>},
          {24, run_chains<Operations, 24>}};
#else
  return {{8, run_chains<Operations, 8>}, {10, run_chains<Operations, 10>}, {12, run_chains<Operations, 12>}};
#endif
}

template <class T>
ChainVariants<T> variants_for(FloatMix mix) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  // Without the instruction, a fused multiply-add would be emulated, and its rate would be mislabelled.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSSE3
  constexpr bool kHasFma = false;
#else
  constexpr bool kHasFma = true;
#endif
  switch (mix) {
    case FloatMix::add: return {lanes, every_number_of_chains<T, FloatMix::add>()};
    case FloatMix::mul: return {lanes, every_number_of_chains<T, FloatMix::mul>()};
    case FloatMix::div: return {lanes, every_number_of_chains<T, FloatMix::div>()};
    case FloatMix::add_mul: return {lanes, every_number_of_chains<T, FloatMix::add_mul>()};
    case FloatMix::mixed: return {lanes, every_number_of_chains<T, FloatMix::mixed>()};
    case FloatMix::fma:
      if constexpr (kHasFma) return {lanes, every_number_of_chains<T, FloatMix::fma>()};
      break;
    case FloatMix::fma_add:
      if constexpr (kHasFma) return {lanes, every_number_of_chains<T, FloatMix::fma_add>()};
      break;
  }
  return {lanes, {}};
}

ChainVariants<float> variants_f32(FloatMix mix) { return variants_for<float>(mix); }
ChainVariants<double> variants_f64(FloatMix mix) { return variants_for<double>(mix); }

}  // namespace HWY_NAMESPACE
}  // namespace nameplate
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nameplate {

#define NAMEPLATE_CASE(name, space) \
  if (isa == Isa::name) return space::NAMEPLATE_VARIANTS(mix);

template <>
ChainVariants<float> flops_variants(Isa isa, FloatMix mix) {
#define NAMEPLATE_VARIANTS variants_f32
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_VARIANTS
  return {};
}

template <>
ChainVariants<double> flops_variants(Isa isa, FloatMix mix) {
#define NAMEPLATE_VARIANTS variants_f64
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_VARIANTS
  return {};
}

#undef NAMEPLATE_CASE

}  // namespace nameplate
#endif
