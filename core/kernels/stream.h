// The loops of memory bandwidth: STREAM's four (McCalpin 1995, with its names a, b and c), and read, write and update.
//
// Elements are small multiples of 2^-16 and the scalar is 3, so every result is exact in either precision, fused or
// not, and can be compared bit for bit. Repeating an operation changes nothing, so values stay bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa.h"

namespace nameplate {

enum class StreamOp {
  copy,    // c = a
  scale,   // b = q·c
  add,     // c = a + b
  triad,   // a = b + q·c
  read,    // the exclusive or of a
  write,   // a = q
  update,  // a = q·a, with q = 2 and ½ alternately
};

enum class Stores {
  plain,        // through the caches, which read a line before it is written
  nontemporal,  // bypassing the caches
};

inline constexpr double kStreamScalar = 3;

std::string to_string(StreamOp op);
StreamOp parse_stream_op(std::string_view name);
const std::vector<std::string>& stream_op_names();

// The number of arrays that an operation reads and writes, and whether it writes one that it did not read (a plain
// store then makes the cache read the line first).
struct StreamTraffic {
  unsigned reads = 0;
  unsigned writes = 0;
  bool allocates = false;
  bool uses[3] = {};    // NOLINT: a, b and c, indexed by their number
  unsigned target = 0;  // the index of the array that is written
};
StreamTraffic traffic(StreamOp op);
// Returns the number of arrays.
unsigned arrays_of(StreamOp op);

template <class T>
struct StreamArrays {
  T* a = nullptr;
  T* b = nullptr;
  T* c = nullptr;
};

// Passes over `count` elements. For `read` it returns the sum over the passes of the exclusive or of the elements' bit
// patterns; otherwise 0. Non-temporal stores need the written array aligned to 64 bytes. T is float or double.
template <class T>
using StreamLoop = std::uint64_t (*)(const StreamArrays<T>& arrays, T scalar, std::size_t count, std::uint64_t passes);

// Returns null if the instruction set has no non-temporal store. Call only after why_not(isa) returned nothing.
template <class T>
StreamLoop<T> stream_loop(Isa isa, StreamOp op, Stores stores);

// Returns element `index` of an array (0, 1, 2 for a, b, c) before any pass: in [1, 2), different from its neighbours.
template <class T>
T stream_start(unsigned array, std::size_t index) {
  // Fibonacci hashing (Knuth, The Art of Computer Programming 6.4): cheap, and it spreads neighbours.
  const std::uint64_t hash = (static_cast<std::uint64_t>(index) * 4 + array + 1) * 0x9E3779B97F4A7C15U;
  // The sixteen bits fit a signed number, whose conversion is one instruction.
  return static_cast<T>(1 + static_cast<double>(static_cast<std::int32_t>(hash >> 48U)) * 0x1p-16);
}

// Returns the element after `passes` of an operation, in plain scalar code.
template <class T>
T stream_expected(StreamOp op, std::uint64_t passes, unsigned array, std::size_t index);

// Returns the first index from `first` to `end` at which `values` differs from that, or `end`.
template <class T>
std::size_t stream_mismatch(StreamOp op, std::uint64_t passes, unsigned array, const T* values, std::size_t first,
                            std::size_t end);

// Returns the scalar of the pass with this number, counted from 0.
double stream_scalar(StreamOp op, std::uint64_t pass);

// Returns what `read` returns for these elements before any pass.
template <class T>
std::uint64_t stream_checksum(std::size_t first, std::size_t end);

}  // namespace nameplate
