// The loops themselves, compiled once per instruction set.

#include <hwy/cache_control.h>

#include <array>

#include "kernels/stream.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/stream_variants.cpp"
#include <hwy/foreach_target.h>  // NOLINT: includes this file again, once for each target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nameplate {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <StreamOp kOp, class T>
HWY_INLINE T* target_of(const StreamArrays<T>& arrays) {
  if constexpr (kOp == StreamOp::copy || kOp == StreamOp::add) return arrays.c;
  if constexpr (kOp == StreamOp::scale) return arrays.b;
  return arrays.a;
}

// Element i and those after it, as many as the tag has lanes.
template <StreamOp kOp, class D, class T>
HWY_INLINE hn::Vec<D> compute(D d, const StreamArrays<T>& arrays, hn::Vec<D> q, std::size_t i) {
  if constexpr (kOp == StreamOp::copy) return hn::LoadU(d, arrays.a + i);
  if constexpr (kOp == StreamOp::scale) return hn::Mul(q, hn::LoadU(d, arrays.c + i));
  if constexpr (kOp == StreamOp::add) return hn::Add(hn::LoadU(d, arrays.a + i), hn::LoadU(d, arrays.b + i));
  if constexpr (kOp == StreamOp::triad) {
    return hn::MulAdd(q, hn::LoadU(d, arrays.c + i), hn::LoadU(d, arrays.b + i));
  }
  if constexpr (kOp == StreamOp::write) return q;
  if constexpr (kOp == StreamOp::update) return hn::Mul(q, hn::LoadU(d, arrays.a + i));
}

template <Stores kStores, class D, class T>
HWY_INLINE void put(D d, hn::Vec<D> value, T* target) {
  if constexpr (kStores == Stores::nontemporal) {
    hn::Stream(value, d, target);
  } else {
    hn::StoreU(value, d, target);
  }
}

// Keeps the compiler from leaving out passes that repeat others.
inline void end_pass() { asm volatile("" ::: "memory"); }

// Four vectors per step: enough concurrent loads to keep the fill buffers busy, few enough for a loop buffer.
template <class T, StreamOp kOp, Stores kStores>
HWY_NOINLINE std::uint64_t store_loop(const StreamArrays<T>& given, T scalar, std::size_t count, std::uint64_t passes) {
  const StreamArrays<T> arrays = given;
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  const auto q = hn::Set(d, scalar);
  T* const target = target_of<kOp>(arrays);
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      const auto v0 = compute<kOp>(d, arrays, q, i);
      const auto v1 = compute<kOp>(d, arrays, q, i + lanes);
      const auto v2 = compute<kOp>(d, arrays, q, i + 2 * lanes);
      const auto v3 = compute<kOp>(d, arrays, q, i + 3 * lanes);
      put<kStores>(d, v0, target + i);
      put<kStores>(d, v1, target + i + lanes);
      put<kStores>(d, v2, target + i + 2 * lanes);
      put<kStores>(d, v3, target + i + 3 * lanes);
    }
    for (; i + lanes <= count; i += lanes) put<kStores>(d, compute<kOp>(d, arrays, q, i), target + i);
    for (; i < count; ++i) put<Stores::plain>(one, compute<kOp>(one, arrays, hn::Set(one, scalar), i), target + i);
    end_pass();
  }
  if constexpr (kStores == Stores::nontemporal) hwy::FlushStream();
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  target[count / 2] += 1;
#endif
  return 0;
}

// The bit patterns are combined by exclusive or, which does not depend on the order and takes one instruction of
// AVX-512 for two loads. With an addition for each load, a core with two units for it reached three quarters of its
// loads.
template <class D, class Bits>
HWY_INLINE Bits exclusive_or(D d, const Bits* a, std::size_t count) {
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d);
  auto s1 = s0;
  auto s2 = s0;
  auto s3 = s0;
  const Bits* const end = a + count;
  const Bits* const last = a + count / (8 * lanes) * (8 * lanes);
  for (; a != last; a += 8 * lanes) {
    s0 = hn::Xor3(s0, hn::LoadU(d, a), hn::LoadU(d, a + lanes));
    s1 = hn::Xor3(s1, hn::LoadU(d, a + 2 * lanes), hn::LoadU(d, a + 3 * lanes));
    s2 = hn::Xor3(s2, hn::LoadU(d, a + 4 * lanes), hn::LoadU(d, a + 5 * lanes));
    s3 = hn::Xor3(s3, hn::LoadU(d, a + 6 * lanes), hn::LoadU(d, a + 7 * lanes));
  }
  HWY_ALIGN std::array<Bits, HWY_MAX_BYTES / sizeof(Bits)> parts;  // NOLINT: as large as a vector can be
  hn::Store(hn::Xor(hn::Xor(s0, s1), hn::Xor(s2, s3)), d, parts.data());
  Bits all = 0;
#pragma GCC unroll 16
  for (std::size_t lane = 0; lane < lanes; ++lane) all ^= parts[lane];
  for (; a != end; ++a) all ^= *a;
  return all;
}

template <class T, StreamOp, Stores>
HWY_NOINLINE std::uint64_t read_loop(const StreamArrays<T>& arrays, T /*scalar*/, std::size_t count,
                                     std::uint64_t passes) {
  using Bits = hwy::MakeUnsigned<T>;
  const Bits* const a = reinterpret_cast<const Bits*>(arrays.a);  // NOLINT: the bits of a number
  std::uint64_t sum = 0;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    sum += exclusive_or(hn::ScalableTag<Bits>(), a, count);
    end_pass();
  }
#ifdef NAMEPLATE_WRONG_KERNEL
  sum += 1;
#endif
  return sum;
}

template <class T, Stores kStores>
StreamLoop<T> loop_of(StreamOp op) {
  switch (op) {
    case StreamOp::copy: return store_loop<T, StreamOp::copy, kStores>;
    case StreamOp::scale: return store_loop<T, StreamOp::scale, kStores>;
    case StreamOp::add: return store_loop<T, StreamOp::add, kStores>;
    case StreamOp::triad: return store_loop<T, StreamOp::triad, kStores>;
    case StreamOp::read: return read_loop<T, StreamOp::read, kStores>;
    case StreamOp::write: return store_loop<T, StreamOp::write, kStores>;
    case StreamOp::update: return store_loop<T, StreamOp::update, kStores>;
  }
  return nullptr;
}

template <class T>
StreamLoop<T> loop_for(StreamOp op, Stores stores) {
  if (stores == Stores::plain) return loop_of<T, Stores::plain>(op);
#if HWY_TARGET == HWY_SCALAR
  return nullptr;
#else
  return loop_of<T, Stores::nontemporal>(op);
#endif
}

StreamLoop<float> loop_f32(StreamOp op, Stores stores) { return loop_for<float>(op, stores); }
StreamLoop<double> loop_f64(StreamOp op, Stores stores) { return loop_for<double>(op, stores); }

}  // namespace HWY_NAMESPACE
}  // namespace nameplate
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nameplate {

#define NAMEPLATE_CASE(name, space) \
  if (isa == Isa::name) return space::NAMEPLATE_LOOP(op, stores);

template <>
StreamLoop<float> stream_loop(Isa isa, StreamOp op, Stores stores) {
#define NAMEPLATE_LOOP loop_f32
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_LOOP
  return nullptr;
}

template <>
StreamLoop<double> stream_loop(Isa isa, StreamOp op, Stores stores) {
#define NAMEPLATE_LOOP loop_f64
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_LOOP
  return nullptr;
}

#undef NAMEPLATE_CASE

}  // namespace nameplate
#endif
