// CMake compiles this file with -O0 -fwrapv, whatever the build.

#include "kernels/unoptimised.h"

#include <cstdint>

namespace nameplate {

namespace {

constexpr int kChains = 4;

// The steps of FloatMix::mixed: +b, ×a, and back by ÷a, −b, each chain one step ahead of the last one.
template <class T>
void run_floats(const T* start, T* finish, const T* constants, std::uint64_t rounds) {
  T x0 = start[0];
  T x1 = start[1];
  T x2 = start[2];
  T x3 = start[3];
  const T a = constants[0];
  const T b = constants[1];
  for (std::uint64_t round = 0; round < rounds; ++round) {
    x0 = x0 + b;
    x1 = x1 * a;
    x2 = x2 / a;
    x3 = x3 - b;
    x0 = x0 * a;
    x1 = x1 / a;
    x2 = x2 - b;
    x3 = x3 + b;
    x0 = x0 / a;
    x1 = x1 - b;
    x2 = x2 + b;
    x3 = x3 * a;
    x0 = x0 - b;
    x1 = x1 + b;
    x2 = x2 * a;
    x3 = x3 / a;
  }
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  x0 = x0 + 1;
#endif
  finish[0] = x0;
  finish[1] = x1;
  finish[2] = x2;
  finish[3] = x3;
}

// The steps of IntegerMix::mixed: +, −, ×, ÷, each chain one step ahead of the last one.
template <class T>
void run_integers(const T* start, T* finish, const T* constants, std::uint64_t rounds) {
  T x0 = start[0];
  T x1 = start[1];
  T x2 = start[2];
  T x3 = start[3];
  const T factor = constants[0];
  const T summand = constants[1];
  const T divisor = constants[2];
  const T subtrahend = constants[3];
  for (std::uint64_t round = 0; round < rounds; ++round) {
    x0 = x0 + summand;
    x1 = x1 - subtrahend;
    x2 = x2 * factor;
    x3 = x3 / divisor;
    x0 = x0 - subtrahend;
    x1 = x1 * factor;
    x2 = x2 / divisor;
    x3 = x3 + summand;
    x0 = x0 * factor;
    x1 = x1 / divisor;
    x2 = x2 + summand;
    x3 = x3 - subtrahend;
    x0 = x0 / divisor;
    x1 = x1 + summand;
    x2 = x2 - subtrahend;
    x3 = x3 * factor;
  }
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  x0 = x0 + 1;
#endif
  finish[0] = x0;
  finish[1] = x1;
  finish[2] = x2;
  finish[3] = x3;
}

}  // namespace

template <>
ChainVariants<float> unoptimised_variants() {
  return {1, {{kChains, run_floats<float>}}};
}
template <>
ChainVariants<double> unoptimised_variants() {
  return {1, {{kChains, run_floats<double>}}};
}
template <>
ChainVariants<std::int32_t> unoptimised_variants() {
  return {1, {{kChains, run_integers<std::int32_t>}}};
}
template <>
ChainVariants<std::int64_t> unoptimised_variants() {
  return {1, {{kChains, run_integers<std::int64_t>}}};
}

}  // namespace nameplate
