#include "kernels/offsets.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "kernels/operands.h"

namespace nameplate {

namespace {

// Half a MiB would displace the data from a small second-level cache; fewer entries would repeat too soon.
constexpr std::size_t kTable = 16 * kOffsetChunk;

using Wide = unsigned __int128;

// Lemire 2019, without the rejection: the bias is below 2^-20 for any region that fits a machine.
std::uint64_t reduce(std::uint64_t random, std::uint64_t below) {
  return static_cast<std::uint64_t>((static_cast<Wide>(random) * below) >> 64U);
}

}  // namespace

const std::vector<std::string>& generator_names() {
  static const std::vector<std::string> kNames = {"precomputed", "xoshiro", "pcg", "rand"};
  return kNames;
}

Generator parse_generator(std::string_view name) {
  const auto& names = generator_names();
  return static_cast<Generator>(std::ranges::find(names, name) - names.begin());
}

OffsetStream::OffsetStream(Generator generator, bool random, std::uint64_t blocks, std::uint64_t block_bytes,
                           std::uint64_t seed)
    : generator_(generator), random_(random), blocks_(blocks), block_bytes_(block_bytes) {
  position_.seed = seed;
  for (unsigned i = 0; i < 4; ++i) position_.state[i] = finalised((seed + 1) * 0x9E3779B97F4A7C15U + i);
  offsets_.resize(generator == Generator::precomputed ? kTable : kOffsetChunk);
  if (generator != Generator::precomputed) return;
  for (std::size_t i = 0; i < kTable; ++i) {
    offsets_[i] = (random ? reduce(xoshiro(), blocks_) : i % blocks_) * block_bytes_;
  }
}

OffsetStream::Chunk OffsetStream::next(std::size_t count) {
  switch (generator_) {
    case Generator::precomputed: return next_of_table(count);
    case Generator::xoshiro: fill(count, [this] { return reduce(xoshiro(), blocks_); }); break;
    case Generator::pcg: fill(count, [this] { return reduce(pcg(), blocks_); }); break;
    case Generator::rand:
      if (blocks_ > RAND_MAX) {
        fill(count, [this] {
          const auto high = static_cast<std::uint64_t>(std::rand()) << 31U;   // NOLINT: it is what is measured
          return (high | static_cast<std::uint64_t>(std::rand())) % blocks_;  // NOLINT
        });
      } else {
        fill(count, [this] { return static_cast<std::uint64_t>(std::rand()) % blocks_; });  // NOLINT
      }
      break;
  }
  return {.offsets = offsets_.data(), .base = 0};
}

OffsetStream::Chunk OffsetStream::next_of_table(std::size_t count) {
  if (position_.at + count > kTable) {
    position_.next_block =
        random_ ? reduce(finalised(++position_.seed), blocks_) : (position_.next_block + position_.at) % blocks_;
    position_.at = 0;
    position_.base = position_.next_block * block_bytes_;
  }
  const Chunk chunk{.offsets = offsets_.data() + position_.at, .base = position_.base};
  position_.at += count;
  return chunk;
}

template <class Draw>
void OffsetStream::fill(std::size_t count, Draw draw) {
  if (random_) {
    for (std::size_t i = 0; i < count; ++i) offsets_[i] = draw() * block_bytes_;
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t unused = draw();
    asm volatile("" : : "r"(unused));
    offsets_[i] = position_.next_block * block_bytes_;
    position_.next_block = position_.next_block + 1 < blocks_ ? position_.next_block + 1 : 0;
  }
}

std::uint64_t OffsetStream::xoshiro() {
  const std::uint64_t result = std::rotl(position_.state[1] * 5, 7) * 9;
  const std::uint64_t shifted = position_.state[1] << 17U;
  position_.state[2] ^= position_.state[0];
  position_.state[3] ^= position_.state[1];
  position_.state[1] ^= position_.state[2];
  position_.state[0] ^= position_.state[3];
  position_.state[2] ^= shifted;
  position_.state[3] = std::rotl(position_.state[3], 45);
  return result;
}

std::uint64_t OffsetStream::pcg() {
  constexpr Wide kMultiplier = (static_cast<Wide>(0x2360ED051FC65DA4U) << 64U) | 0x4385DF649FCCF645U;
  constexpr Wide kIncrement = (static_cast<Wide>(0x5851F42D4C957F2DU) << 64U) | 0x14057B7EF767814FU;
  const Wide state = ((static_cast<Wide>(position_.state[1]) << 64U) | position_.state[0]) * kMultiplier + kIncrement;
  position_.state[0] = static_cast<std::uint64_t>(state);
  position_.state[1] = static_cast<std::uint64_t>(state >> 64U);
  return std::rotr(position_.state[1] ^ position_.state[0], static_cast<int>(position_.state[1] >> 58U));
}

}  // namespace nameplate
