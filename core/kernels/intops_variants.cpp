// The loops themselves, compiled once per instruction set.

#include "kernels/intops_variants.h"

#include <type_traits>

#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/intops_variants.cpp"
#include <hwy/foreach_target.h>  // NOLINT: includes this file again, once for each target
#include <hwy/highway.h>

#include "kernels/chains-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nameplate {
namespace HWY_NAMESPACE {

// Hides a value from the compiler, which would otherwise fold a chain of integer additions into one.
template <class V>
HWY_INLINE V opaque(V x) {
#if HWY_TARGET == HWY_SCALAR
  asm("" : "+r"(x.raw));
#elif HWY_ARCH_X86
  asm("" : "+v"(x.raw));
#elif HWY_HAVE_SCALABLE
  asm("" : "+w"(x));
#else
  asm("" : "+w"(x.raw));
#endif
  return x;
}

#if HWY_TARGET == HWY_SCALAR
template <class V>
HWY_INLINE V divide(V x, V divisor) {
  return V(static_cast<decltype(x.raw)>(x.raw / divisor.raw));
}
template <class V>
HWY_INLINE V multiply(V x, V y) {
  using Unsigned = std::make_unsigned_t<decltype(x.raw)>;
  return V(static_cast<decltype(x.raw)>(static_cast<Unsigned>(x.raw) * static_cast<Unsigned>(y.raw)));
}
#else
template <class V>
HWY_INLINE V divide(V x, V /*divisor*/) {
  return x;
}
template <class V>
HWY_INLINE V multiply(V x, V y) {
  return hn::Mul(x, y);
}
#endif

// The constants: c0 is an odd factor, c1 and c3 are terms, c2 is a divisor.
template <class Integer, IntegerMix kMix>
struct IntegerOperations {
  using T = Integer;
  static constexpr int kPeriod = kMix == IntegerMix::mixed ? 4 : 2;

  template <int kStep, int kChain, class V>
  static HWY_INLINE V step(V x, V c0, V c1, V c2, V c3) {
    return opaque(result<kStep, kChain>(x, c0, c1, c2, c3));
  }

  template <int kStep, int kChain, class V>
  static HWY_INLINE V result(V x, V c0, V c1, V c2, V c3) {
    if constexpr (kMix == IntegerMix::add) return hn::Add(x, kStep % 2 == 0 ? c1 : c3);
    if constexpr (kMix == IntegerMix::mul) return multiply(x, c0);
    constexpr int kPhase = (kStep + kChain) % 4;
    if constexpr (kPhase == 0) return hn::Add(x, c1);
    if constexpr (kPhase == 1) return hn::Sub(x, c3);
    if constexpr (kPhase == 2) return multiply(x, c0);
    return divide(x, c2);
  }
};

template <class T, IntegerMix kMix>
std::vector<ChainVariant<T>> every_number_of_chains() {
  using Operations = IntegerOperations<T, kMix>;
#if HWY_TARGET == HWY_SCALAR
  // The stack pointer, the counter, the pointers and the constants occupy most of the 16 general registers.
  return {{4, run_chains<Operations, 4>}, {6, run_chains<Operations, 6>}, {8, run_chains<Operations, 8>}};
#elif HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
  return {{8, run_chains<Operations, 8>}, {16, run_chains<Operations, 16>}, {24, run_chains<Operations, 24>}};
#else
  return {{8, run_chains<Operations, 8>}, {10, run_chains<Operations, 10>}, {12, run_chains<Operations, 12>}};
#endif
}

// Highway emulates missing instructions, and the rate of an emulation would be mislabelled.
template <class T, IntegerMix kMix>
constexpr bool has_instruction() {
  if constexpr (kMix == IntegerMix::add || HWY_TARGET == HWY_SCALAR) return true;
  if constexpr (kMix == IntegerMix::mixed || HWY_TARGET == HWY_SSSE3) return false;
  return sizeof(T) == sizeof(std::int32_t) || HWY_TARGET == HWY_AVX3;
}

template <class T, IntegerMix kMix>
ChainVariants<T> variants_if_possible() {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  if constexpr (has_instruction<T, kMix>()) return {lanes, every_number_of_chains<T, kMix>()};
  return {lanes, {}};
}

template <class T>
ChainVariants<T> variants_for(IntegerMix mix) {
  if (mix == IntegerMix::add) return variants_if_possible<T, IntegerMix::add>();
  if (mix == IntegerMix::mul) return variants_if_possible<T, IntegerMix::mul>();
  return variants_if_possible<T, IntegerMix::mixed>();
}

ChainVariants<std::int32_t> variants_i32(IntegerMix mix) { return variants_for<std::int32_t>(mix); }
ChainVariants<std::int64_t> variants_i64(IntegerMix mix) { return variants_for<std::int64_t>(mix); }

}  // namespace HWY_NAMESPACE
}  // namespace nameplate
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nameplate {

#define NAMEPLATE_CASE(name, space) \
  if (isa == Isa::name) return space::NAMEPLATE_VARIANTS(mix);

template <>
ChainVariants<std::int32_t> intops_variants(Isa isa, IntegerMix mix) {
#define NAMEPLATE_VARIANTS variants_i32
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_VARIANTS
  return {};
}

template <>
ChainVariants<std::int64_t> intops_variants(Isa isa, IntegerMix mix) {
#define NAMEPLATE_VARIANTS variants_i64
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_VARIANTS
  return {};
}

#undef NAMEPLATE_CASE

}  // namespace nameplate
#endif
