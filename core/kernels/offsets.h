// Offsets of the next blocks: sequential, or random by one of several generators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nameplate {

enum class Generator {
  precomputed,  // a table generated before; after each pass all its offsets are shifted together
  xoshiro,      // xoshiro256** (Blackman, Vigna 2018)
  pcg,          // PCG XSL RR 128/64 (O'Neill 2014)
  rand,         // the C library's: one state with a lock for all threads
};

const std::vector<std::string>& generator_names();
Generator parse_generator(std::string_view name);

// An endless sequence of offsets of blocks in a span of `blocks` × `block_bytes`. In a sequential one the generator
// runs as well and its numbers are discarded, so that both patterns include its cost.
class OffsetStream {
 public:
  OffsetStream(Generator generator, bool random, std::uint64_t blocks, std::uint64_t block_bytes, std::uint64_t seed);

  // The next `count` offsets, at most kOffsetChunk: those at the pointer, each plus `base` modulo the span. Valid until
  // the next call.
  struct Chunk {
    const std::uint64_t* offsets;
    std::uint64_t base;
  };
  Chunk next(std::size_t count);

  // A position from which the sequence can be repeated, except for `rand`.
  struct Position {
    std::uint64_t next_block = 0;  // of a sequential sequence
    std::uint64_t seed = 0;
    std::uint64_t state[4] = {};  // NOLINT: of a generator
    std::size_t at = 0;           // in the table
    std::uint64_t base = 0;
  };
  const Position& position() const { return position_; }
  void go_back(const Position& position) { position_ = position; }

 private:
  Chunk next_of_table(std::size_t count);
  template <class Draw>
  void fill(std::size_t count, Draw draw);

  std::uint64_t xoshiro();
  std::uint64_t pcg();

  Generator generator_;
  bool random_;
  std::uint64_t blocks_;
  std::uint64_t block_bytes_;
  Position position_;
  std::vector<std::uint64_t> offsets_;
};

// Fits the first-level cache.
inline constexpr std::size_t kOffsetChunk = 1024;

}  // namespace nameplate
