#include "kernels/vnni.h"

#if defined(__x86_64__)

#include <fmt/format.h>
#include <immintrin.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/operands.h"

namespace nameplate {

namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kBytesInLane = 4;
constexpr std::uint64_t kOperationsPerInstruction = 2 * kLanes * kBytesInLane;
constexpr std::size_t kMaxChains = 24;

struct Operands {
  alignas(64) std::array<std::uint8_t, 64> left{};
  alignas(64) std::array<std::int8_t, 64> right{};
};

Operands make_operands() {
  OperandSource source;
  Operands operands;
  for (auto& byte : operands.left) byte = static_cast<std::uint8_t>(source.next());
  for (auto& byte : operands.right) byte = static_cast<std::int8_t>(source.next());
  return operands;
}

// The accumulators stay in registers: the compiler unrolls the loops over a constant number of chains.
template <std::size_t kChains>
__attribute__((target("avx512f,avx512vnni"), noinline)) void run_block(const Operands& operands, std::byte* result) {
  const __m512i left = _mm512_load_si512(operands.left.data());
  const __m512i right = _mm512_load_si512(operands.right.data());
  __m512i sums[kChains];  // NOLINT: std::array would drop the vector type's attributes
#pragma GCC unroll 24
  for (std::size_t i = 0; i < kChains; ++i) sums[i] = _mm512_set1_epi32(static_cast<int>(i));
  for (std::uint64_t step = 0; step < kBlockSteps; ++step) {
#pragma GCC unroll 24
    for (std::size_t i = 0; i < kChains; ++i) {
      sums[i] = _mm512_dpbusd_epi32(sums[i], left, right);
      asm("" : "+v"(sums[i]));
    }
  }
#pragma GCC unroll 24
  for (std::size_t i = 0; i < kChains; ++i) _mm512_storeu_si512(result + i * sizeof(__m512i), sums[i]);
}

std::int32_t replay(const Operands& operands, std::size_t chain, std::size_t lane) {
  std::int32_t dot = 0;
  for (std::size_t i = lane * kBytesInLane; i < (lane + 1) * kBytesInLane; ++i) {
    dot += operands.left.at(i) * operands.right.at(i);
  }
  auto sum = static_cast<std::uint32_t>(chain);
  for (std::uint64_t step = 0; step < kBlockSteps; ++step) sum += static_cast<std::uint32_t>(dot);
  return static_cast<std::int32_t>(sum);
}

std::optional<std::string> first_difference(const Operands& operands, std::size_t chains, const std::byte* result) {
  for (std::size_t element = 0; element < chains * kLanes; ++element) {
    std::int32_t measured = 0;
    std::memcpy(&measured, result + element * sizeof(measured), sizeof(measured));
    const std::int32_t expected = replay(operands, element / kLanes, element % kLanes);
    if (measured != expected) {
      return fmt::format("chain {} lane {} is {}, but a scalar replay gives {}", element / kLanes, element % kLanes,
                         measured, expected);
    }
  }
  return std::nullopt;
}

template <std::size_t kChains>
RateKernel make_kernel() {
  static_assert(kChains <= kMaxChains);
  const auto operands = std::make_shared<const Operands>(make_operands());
  RateKernel kernel;
  kernel.chains = kChains;
  kernel.lanes = kLanes * kBytesInLane;
  kernel.instructions = kBlockSteps * kChains;
  kernel.operations = kernel.instructions * kOperationsPerInstruction;
  kernel.is_wide = true;
  kernel.result_bytes = kChains * kLanes * sizeof(std::int32_t);
  kernel.run = [operands](std::byte* result) { run_block<kChains>(*operands, result); };
  kernel.difference = [operands](const std::byte* result) { return first_difference(*operands, kChains, result); };
  return kernel;
}

}  // namespace

std::optional<std::string> why_not_vnni() {
  const bool has_it = __builtin_cpu_supports("avx512vnni");
  if (has_it) return std::nullopt;
  return "this CPU has no AVX-512 VNNI";
}

std::vector<RateKernel> vnni_kernels() { return {make_kernel<8>(), make_kernel<16>(), make_kernel<kMaxChains>()}; }

}  // namespace nameplate

#else

namespace nameplate {

std::optional<std::string> why_not_vnni() { return "this nameplate-core is not built for x86-64"; }
std::vector<RateKernel> vnni_kernels() { return {}; }

}  // namespace nameplate

#endif
