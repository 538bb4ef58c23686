// The loops without calls, compiled once per instruction set.

#include <cstring>

#include "kernels/block.h"
#include "kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/block_variants.cpp"
#include <hwy/foreach_target.h>  // NOLINT: includes this file again, once for each target
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nameplate {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One load or store of a word of the block's size.
template <class Word, BlockOp kOp>
struct OneWord {
  static HWY_INLINE std::uint64_t apply(const BlockSpan& span, std::uint64_t offset) {
    Word word = static_cast<Word>(0x0101010101010101U * kBlockByte);
    if constexpr (kOp == BlockOp::read) {
      std::memcpy(&word, span.source + offset, sizeof(Word));
      return word;
    }
    if constexpr (kOp == BlockOp::copy) std::memcpy(&word, span.source + offset, sizeof(Word));
    std::memcpy(span.target + offset, &word, sizeof(Word));
    return 0;
  }
};

// Four vectors at a time, then single vectors, words and bytes.
template <BlockOp kOp>
struct AnyLength {
  static HWY_INLINE std::uint64_t apply(const BlockSpan& span, std::uint64_t offset) {
    if constexpr (kOp == BlockOp::read) {
      return read(reinterpret_cast<const std::uint8_t*>(span.source + offset), span.block_bytes);  // NOLINT: bytes
    } else {
      move(span, offset);
      return 0;
    }
  }

  static HWY_INLINE std::uint64_t read(const std::uint8_t* block, std::uint64_t bytes) {
    const hn::ScalableTag<std::uint64_t> d;
    const std::size_t vector = hn::Lanes(d) * sizeof(std::uint64_t);
    std::uint64_t at = 0;
    std::uint64_t sum = 0;
    const auto load = [&](std::size_t offset) HWY_ATTR {
      return hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(block + at + offset));  // NOLINT: an unaligned load
    };
    if (bytes >= vector) {
      auto s0 = hn::Zero(d);
      auto s1 = s0;
      auto s2 = s0;
      auto s3 = s0;
      for (; at + 4 * vector <= bytes; at += 4 * vector) {
        s0 = hn::Add(s0, load(0));
        s1 = hn::Add(s1, load(vector));
        s2 = hn::Add(s2, load(2 * vector));
        s3 = hn::Add(s3, load(3 * vector));
      }
      for (; at + vector <= bytes; at += vector) s0 = hn::Add(s0, load(0));
      sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
    }
    for (; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, block + at, sizeof(word));
      sum += word;
    }
    for (; at < bytes; ++at) sum += block[at];
    return sum;
  }

  static HWY_INLINE void move(const BlockSpan& span, std::uint64_t offset) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    auto* const target = reinterpret_cast<std::uint8_t*>(span.target + offset);              // NOLINT: bytes
    const auto* const source = reinterpret_cast<const std::uint8_t*>(span.source + offset);  // NOLINT: bytes
    const auto value = hn::Set(d, kBlockByte);
    const auto from = [&](std::uint64_t at)
                          HWY_ATTR { return kOp == BlockOp::copy ? hn::LoadU(d, source + at) : value; };
    std::uint64_t at = 0;
    for (; at + 4 * lanes <= span.block_bytes; at += 4 * lanes) {
      const auto v0 = from(at);
      const auto v1 = from(at + lanes);
      const auto v2 = from(at + 2 * lanes);
      const auto v3 = from(at + 3 * lanes);
      hn::StoreU(v0, d, target + at);
      hn::StoreU(v1, d, target + at + lanes);
      hn::StoreU(v2, d, target + at + 2 * lanes);
      hn::StoreU(v3, d, target + at + 3 * lanes);
    }
    for (; at + lanes <= span.block_bytes; at += lanes) hn::StoreU(from(at), d, target + at);
    for (; at + sizeof(std::uint64_t) <= span.block_bytes; at += sizeof(std::uint64_t)) {
      OneWord<std::uint64_t, kOp>::apply(span, offset + at);
    }
    for (; at < span.block_bytes; ++at) OneWord<std::uint8_t, kOp>::apply(span, offset + at);
  }
};

// A cache line, whose constant size leaves no loop: a core then has more reads of random lines under way.
template <BlockOp kOp>
struct OneLine {
  static HWY_INLINE std::uint64_t apply(const BlockSpan& given, std::uint64_t offset) {
    BlockSpan span = given;
    span.block_bytes = kBlockOfALine;
    return AnyLength<kOp>::apply(span, offset);
  }
};

template <class Block>
HWY_NOINLINE std::uint64_t block_loop(const BlockSpan& given, const std::uint64_t* offsets, std::size_t count,
                                      std::uint64_t base) {
  const BlockSpan span = given;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t offset = offsets[i] + base;
    if (offset >= span.span_bytes) offset -= span.span_bytes;
    sum += Block::apply(span, offset);
  }
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  if (span.target != nullptr) span.target[offsets[0]] ^= std::byte{1};
  sum += 1;
#endif
  return sum;
}

template <BlockOp kOp>
BlockLoop loop_of_size(std::uint64_t block_bytes) {
  switch (block_bytes) {
    case 1: return block_loop<OneWord<std::uint8_t, kOp>>;
    case 2: return block_loop<OneWord<std::uint16_t, kOp>>;
    case 4: return block_loop<OneWord<std::uint32_t, kOp>>;
    case 8: return block_loop<OneWord<std::uint64_t, kOp>>;
    case kBlockOfALine: return block_loop<OneLine<kOp>>;
    default: return block_loop<AnyLength<kOp>>;
  }
}

BlockLoop loop_for(BlockOp op, std::uint64_t block_bytes) {
  switch (op) {
    case BlockOp::read: return loop_of_size<BlockOp::read>(block_bytes);
    case BlockOp::write: return loop_of_size<BlockOp::write>(block_bytes);
    case BlockOp::copy: return loop_of_size<BlockOp::copy>(block_bytes);
  }
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace nameplate
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nameplate {

BlockLoop inline_block_loop(Isa isa, BlockOp op, std::uint64_t block_bytes) {
#define NAMEPLATE_CASE(name, space) \
  if (isa == Isa::name) return space::loop_for(op, block_bytes);
  NAMEPLATE_TARGETS(NAMEPLATE_CASE)
#undef NAMEPLATE_CASE
  return nullptr;
}

}  // namespace nameplate
#endif
