// Independent chains of dependent operations, which keep every port of a unit busy: with enough chains (latency ×
// ports, 8 to 12 on current cores) the unit never waits for a result; too many do not fit the registers.
//
// Per-target header: included again for every target of hwy/foreach_target.h, hence no ordinary include guard.

#if defined(NAMEPLATE_KERNELS_CHAINS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NAMEPLATE_KERNELS_CHAINS_INL_H_
#undef NAMEPLATE_KERNELS_CHAINS_INL_H_
#else
#define NAMEPLATE_KERNELS_CHAINS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace nameplate {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The chains are variables with names, since SVE's vectors have no size and cannot stand in an array.
// clang-format off
#define NAMEPLATE_CHAINS(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) \
  X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
// clang-format on

#define NAMEPLATE_LOAD(i) auto x##i = hn::LoadU(d, start + static_cast<std::size_t>((i) < kChains ? (i) : 0) * lanes);
#define NAMEPLATE_STEP(i) \
  if constexpr ((i) < kChains) x##i = Operations::template step<kStep, (i)>(x##i, c0, c1, c2, c3);
#define NAMEPLATE_STORE(i) \
  if constexpr ((i) < kChains) hn::StoreU(x##i, d, finish + static_cast<std::size_t>(i) * lanes);
#define NAMEPLATE_PASS(s)                    \
  if constexpr ((s) < Operations::kPeriod) { \
    constexpr int kStep = (s);               \
    NAMEPLATE_CHAINS(NAMEPLATE_STEP)         \
  }

// Takes kChains vectors from `start` through `rounds` × Operations::kPeriod steps and stores them in `finish`.
// Operations::step<s, i>(x, c0, c1, c2, c3) is the s-th step of chain i with the four `constants`.
template <class Operations, int kChains>
HWY_NOINLINE void run_chains(const typename Operations::T* HWY_RESTRICT start,
                             typename Operations::T* HWY_RESTRICT finish,
                             const typename Operations::T* HWY_RESTRICT constants, std::uint64_t rounds) {
  const hn::ScalableTag<typename Operations::T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto c0 = hn::Set(d, constants[0]);
  const auto c1 = hn::Set(d, constants[1]);
  const auto c2 = hn::Set(d, constants[2]);
  const auto c3 = hn::Set(d, constants[3]);
  NAMEPLATE_CHAINS(NAMEPLATE_LOAD)
  for (; rounds != 0; --rounds) {
    NAMEPLATE_PASS(0)
    NAMEPLATE_PASS(1)
    NAMEPLATE_PASS(2)
    NAMEPLATE_PASS(3)
  }
  NAMEPLATE_CHAINS(NAMEPLATE_STORE)
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  hn::StoreU(hn::Add(x0, c1), d, finish);
#endif
}

#undef NAMEPLATE_CHAINS
#undef NAMEPLATE_LOAD
#undef NAMEPLATE_STEP
#undef NAMEPLATE_STORE
#undef NAMEPLATE_PASS

}  // namespace HWY_NAMESPACE
}  // namespace nameplate
HWY_AFTER_NAMESPACE();

#endif
