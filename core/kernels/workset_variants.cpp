// The vector loop, compiled once per instruction set.

#include <array>

#include "kernels/targets.h"
#include "kernels/workset.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/workset_variants.cpp"
#include <hwy/foreach_target.h>  // NOLINT: includes this file again, once for each target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nameplate {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A group is one vector of four lanes, or several narrower ones. Each operand is broadcast by its load, which needs no
// arithmetic port, unlike a permutation of a wider vector.
HWY_NOINLINE void workset_loop(double* HWY_RESTRICT x, const double* HWY_RESTRICT y, std::size_t count,
                               std::uint64_t passes) {
  const hn::CappedTag<double, 4> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto [a, b, c, e] = kWorksetCoefficients;
  // The coefficients of y0 for x0 … x3, then of y1 and so on, each rotated by one.
  HWY_ALIGN const std::array<double, 8> rotated = {a, b, c, e, a, b, c, e};
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < count; i += kWorksetGroup) {
      for (std::size_t part = 0; part < kWorksetGroup; part += lanes) {
        auto sum = hn::Mul(hn::LoadU(d, rotated.data() + part), hn::Set(d, y[i]));
        sum = hn::MulAdd(hn::LoadU(d, rotated.data() + part + 1), hn::Set(d, y[i + 1]), sum);
        sum = hn::MulAdd(hn::LoadU(d, rotated.data() + part + 2), hn::Set(d, y[i + 2]), sum);
        sum = hn::MulAdd(hn::LoadU(d, rotated.data() + part + 3), hn::Set(d, y[i + 3]), sum);
        hn::StoreU(sum, d, x + i + part);
      }
    }
    asm volatile("" : : "r"(x), "r"(y) : "memory");
  }
#ifdef NAMEPLATE_WRONG_KERNEL
  x[count / 2] += 1;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace nameplate
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nameplate {

WorksetLoop vector_workset_loop(Isa isa) {
#define NAMEPLATE_CASE(name, space) \
  if (isa == Isa::name) return space::workset_loop;
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_CASE
  return nullptr;
}

}  // namespace nameplate
#endif
