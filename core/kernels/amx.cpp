#include "kernels/amx.h"

#if defined(__x86_64__)

#include <fmt/format.h>
#include <immintrin.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "kernels/operands.h"

namespace nameplate {

namespace {

constexpr std::size_t kRows = 16;
constexpr std::size_t kRowBytes = 64;
constexpr std::size_t kTileBytes = kRows * kRowBytes;
constexpr unsigned kTiles = 4;  // sums; two more tiles hold the operands
constexpr std::size_t kColumns = kRowBytes / sizeof(std::int32_t);

// The layout of the tile configuration (Intel SDM, LDTILECFG).
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> bytes_per_row{};
  std::array<std::uint8_t, 16> rows{};
};

struct alignas(64) Operands {
  std::array<std::uint8_t, kTileBytes> left{};
  std::array<std::uint8_t, kTileBytes> right{};
  TileConfiguration configuration;
};

Operands make_operands() {
  Operands operands;
  for (std::size_t tile = 0; tile < kTiles + 2; ++tile) {
    operands.configuration.bytes_per_row.at(tile) = kRowBytes;
    operands.configuration.rows.at(tile) = kRows;
  }
  return operands;
}

Operands make_int8_operands() {
  OperandSource source;
  Operands operands = make_operands();
  for (auto& byte : operands.left) byte = static_cast<std::uint8_t>(source.next());
  for (auto& byte : operands.right) byte = static_cast<std::uint8_t>(source.next());
  return operands;
}

// Small integers, which bf16 represents exactly: the fp32 sums of a block are then exact in any order, and can be
// compared bit for bit although the unit's order of additions is not specified.
Operands make_bf16_operands() {
  OperandSource source;
  Operands operands = make_operands();
  const auto fill = [&source](std::array<std::uint8_t, kTileBytes>& tile) {
    for (std::size_t at = 0; at < kTileBytes; at += sizeof(std::uint16_t)) {
      const auto number = static_cast<float>(static_cast<int>(source.next() % 7) - 3);
      const auto bf16 = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16U);
      std::memcpy(&tile.at(at), &bf16, sizeof(bf16));
    }
  };
  fill(operands.left);
  fill(operands.right);
  return operands;
}

#define NAMEPLATE_AMX_BLOCK(name, instruction)                                                        \
  __attribute__((target("amx-tile,amx-int8,amx-bf16"), noinline)) void name(const Operands& operands, \
                                                                            std::byte* result) {      \
    _tile_loadconfig(&operands.configuration);                                                        \
    _tile_zero(0);                                                                                    \
    _tile_zero(1);                                                                                    \
    _tile_zero(2);                                                                                    \
    _tile_zero(3);                                                                                    \
    _tile_loadd(4, operands.left.data(), kRowBytes);                                                  \
    _tile_loadd(5, operands.right.data(), kRowBytes);                                                 \
    for (std::uint64_t step = 0; step < kBlockSteps; ++step) {                                        \
      instruction(0, 4, 5);                                                                           \
      instruction(1, 4, 5);                                                                           \
      instruction(2, 4, 5);                                                                           \
      instruction(3, 4, 5);                                                                           \
    }                                                                                                 \
    _tile_stored(0, result, kRowBytes);                                                               \
    _tile_stored(1, result + kTileBytes, kRowBytes);                                                  \
    _tile_stored(2, result + 2 * kTileBytes, kRowBytes);                                              \
    _tile_stored(3, result + 3 * kTileBytes, kRowBytes);                                              \
    _tile_release();                                                                                  \
  }

NAMEPLATE_AMX_BLOCK(run_int8, _tile_dpbssd)
NAMEPLATE_AMX_BLOCK(run_bf16, _tile_dpbf16ps)
#undef NAMEPLATE_AMX_BLOCK

template <class Element>
Element element_at(const std::array<std::uint8_t, kTileBytes>& tile, std::size_t index) {
  Element value{};
  std::memcpy(&value, tile.data() + index * sizeof(Element), sizeof(Element));
  return value;
}

float widened(std::uint16_t bf16) { return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16U); }

// One step of the sum at (row, column): the right operand holds groups of `kGroup` rows side by side (Intel SDM).
template <class Element, std::size_t kGroup, class Widen>
auto dot(const Operands& operands, std::size_t row, std::size_t column, Widen widen) {
  decltype(widen(Element{})) sum{};
  for (std::size_t k = 0; k < kRows; ++k) {
    for (std::size_t i = 0; i < kGroup; ++i) {
      const auto left = element_at<Element>(operands.left, (row * kRows + k) * kGroup + i);
      const auto right = element_at<Element>(operands.right, (k * kColumns + column) * kGroup + i);
      sum += widen(left) * widen(right);
    }
  }
  return sum;
}

std::int32_t replay_int8(const Operands& operands, std::size_t row, std::size_t column) {
  const auto widen = [](std::int8_t byte) { return static_cast<std::int32_t>(byte); };
  const auto once = static_cast<std::uint32_t>(dot<std::int8_t, 4>(operands, row, column, widen));
  return static_cast<std::int32_t>(once * static_cast<std::uint32_t>(kBlockSteps));
}

float replay_bf16(const Operands& operands, std::size_t row, std::size_t column) {
  return dot<std::uint16_t, 2>(operands, row, column, widened) * static_cast<float>(kBlockSteps);
}

template <class Sum, class Replay>
std::optional<std::string> first_difference(const Operands& operands, const std::byte* result, Replay replay) {
  for (std::size_t element = 0; element < kTiles * kRows * kColumns; ++element) {
    Sum measured{};
    std::memcpy(&measured, result + element * sizeof(Sum), sizeof(Sum));
    const std::size_t row = element / kColumns % kRows;
    const std::size_t column = element % kColumns;
    const Sum expected = replay(operands, row, column);
    if (measured != expected) {
      return fmt::format("tile {} row {} column {} is {}, but a scalar replay gives {}", element / (kRows * kColumns),
                         row, column, measured, expected);
    }
  }
  return std::nullopt;
}

RateKernel shape_of_kernel(unsigned elements_per_row) {
  RateKernel kernel;
  kernel.chains = kTiles;
  kernel.lanes = kRows * kColumns * elements_per_row;  // products per instruction
  kernel.instructions = kBlockSteps * kTiles;
  kernel.operations = kernel.instructions * kernel.lanes * 2;
  kernel.is_wide = true;
  kernel.result_bytes = kTiles * kTileBytes;
  return kernel;
}

}  // namespace

std::vector<RateKernel> amx_bf16_kernels() {
  const auto operands = std::make_shared<const Operands>(make_bf16_operands());
  RateKernel kernel = shape_of_kernel(kRowBytes / sizeof(std::uint16_t));
  kernel.run = [operands](std::byte* result) { run_bf16(*operands, result); };
  kernel.difference = [operands](const std::byte* result) {
    return first_difference<float>(*operands, result, replay_bf16);
  };
  return {kernel};
}

std::vector<RateKernel> amx_int8_kernels() {
  const auto operands = std::make_shared<const Operands>(make_int8_operands());
  RateKernel kernel = shape_of_kernel(kRowBytes);
  kernel.run = [operands](std::byte* result) { run_int8(*operands, result); };
  kernel.difference = [operands](const std::byte* result) {
    return first_difference<std::int32_t>(*operands, result, replay_int8);
  };
  return {kernel};
}

}  // namespace nameplate

#else

namespace nameplate {

std::vector<RateKernel> amx_bf16_kernels() { return {}; }
std::vector<RateKernel> amx_int8_kernels() { return {}; }

}  // namespace nameplate

#endif
