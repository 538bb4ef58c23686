#include "kernels/flops.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/amx.h"
#include "kernels/intops.h"
#include "kernels/vnni.h"

namespace nameplate {
namespace {

void expect_exact(const RateKernel& kernel, const std::string& label) {
  alignas(64) static std::byte result[8192];  // NOLINT: aligned raw memory
  ASSERT_LE(kernel.result_bytes, sizeof(result));
  kernel.run(result);
  EXPECT_EQ(kernel.difference(result), std::nullopt) << label << " with " << kernel.chains << " chains";
  result[3] ^= std::byte{1};
  EXPECT_NE(kernel.difference(result), std::nullopt) << label << ": a flipped bit went unnoticed";
}

std::vector<Isa> usable_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : compiled_isas()) {
    if (!why_not(isa) && isa != Isa::amx) isas.push_back(isa);
  }
  return isas;
}

template <class T>
void expect_all_mixes_exact(Isa isa) {
  for (const std::string& name : float_mix_names()) {
    for (const RateKernel& kernel : flops_kernels<T>(isa, parse_float_mix(name))) {
      expect_exact(kernel, to_string(isa) + " " + name);
    }
  }
}

TEST(FlopsKernels, EveryKernelAgreesWithAScalarReplayBitForBit) {
  for (const Isa isa : usable_isas()) {
    expect_all_mixes_exact<double>(isa);
    expect_all_mixes_exact<float>(isa);
  }
}

TEST(FlopsKernels, CountTheOperationsOfTheirMix) {
  const auto per_element = [](FloatMix mix) {
    const RateKernel kernel = flops_kernels<double>(usable_isas().back(), mix).front();
    return static_cast<double>(kernel.operations) / static_cast<double>(kernel.instructions * kernel.lanes);
  };
  EXPECT_EQ(per_element(FloatMix::add), 1);
  EXPECT_EQ(per_element(FloatMix::mixed), 1);
  if (flops_kernels<double>(usable_isas().back(), FloatMix::fma).empty()) GTEST_SKIP() << "this CPU has no fma";
  EXPECT_EQ(per_element(FloatMix::fma), 2);
  EXPECT_EQ(per_element(FloatMix::fma_add), 1.5);
}

TEST(FlopsKernels, VectorsOf512BitsAreWide) {
  for (const Isa isa : usable_isas()) {
    if (isa == Isa::sve) continue;  // its width is the CPU's
    EXPECT_EQ(flops_kernels<double>(isa, FloatMix::add).front().is_wide, isa == Isa::avx512) << to_string(isa);
    EXPECT_EQ(flops_kernels<float>(isa, FloatMix::add).front().is_wide, isa == Isa::avx512) << to_string(isa);
  }
}

TEST(FlopsKernels, AnInstructionSetWithoutFmaHasNoFmaKernel) {
  if (why_not(Isa::sse2)) GTEST_SKIP() << "not an x86-64 with SSSE3";
  EXPECT_TRUE(flops_kernels<double>(Isa::sse2, FloatMix::fma).empty());
  EXPECT_FALSE(flops_kernels<double>(Isa::sse2, FloatMix::add_mul).empty());
}

TEST(UnoptimisedKernels, AgreeWithAScalarReplay) {
  expect_exact(unoptimised_flops_kernels<double>().front(), "fp64");
  expect_exact(unoptimised_flops_kernels<float>().front(), "fp32");
  expect_exact(unoptimised_intops_kernels<std::int32_t>().front(), "int32");
  expect_exact(unoptimised_intops_kernels<std::int64_t>().front(), "int64");
}

TEST(IntopsKernels, EveryKernelAgreesWithAScalarReplay) {
  for (const Isa isa : usable_isas()) {
    for (const IntegerMix mix : {IntegerMix::add, IntegerMix::mul, IntegerMix::mixed}) {
      for (const RateKernel& kernel : intops_kernels<std::int32_t>(isa, mix)) expect_exact(kernel, to_string(isa));
      for (const RateKernel& kernel : intops_kernels<std::int64_t>(isa, mix)) expect_exact(kernel, to_string(isa));
    }
  }
}

TEST(IntopsKernels, NoVectorUnitDivides) {
  for (const Isa isa : usable_isas()) {
    EXPECT_EQ(intops_kernels<std::int32_t>(isa, IntegerMix::mixed).empty(), isa != Isa::scalar) << to_string(isa);
  }
}

TEST(VnniKernels, AgreeWithAScalarReplay) {
  if (const auto reason = why_not_vnni()) GTEST_SKIP() << *reason;
  for (const RateKernel& kernel : vnni_kernels()) expect_exact(kernel, "vnni");
}

TEST(AmxKernels, AgreeWithAScalarReplay) {
  if (const auto reason = why_not(Isa::amx)) GTEST_SKIP() << *reason;
  for (const RateKernel& kernel : amx_bf16_kernels()) expect_exact(kernel, "bf16");
  for (const RateKernel& kernel : amx_int8_kernels()) expect_exact(kernel, "int8");
}

TEST(Isa, NamesAreParsedBack) {
  for (const Isa isa : compiled_isas()) EXPECT_EQ(parse_isa(to_string(isa)), isa);
  EXPECT_EQ(parse_isa("avx1024"), std::nullopt);
}

}  // namespace
}  // namespace nameplate
