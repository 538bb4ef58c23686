#include "kernels/stream.h"

#include <algorithm>
#include <cstring>

namespace nameplate {

namespace {

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

}  // namespace

const std::vector<std::string>& stream_op_names() {
  static const std::vector<std::string> kNames = {"copy", "scale", "add", "triad", "read", "write", "update"};
  return kNames;
}

std::string to_string(StreamOp op) { return stream_op_names().at(static_cast<std::size_t>(op)); }

StreamOp parse_stream_op(std::string_view name) {
  const auto& names = stream_op_names();
  return static_cast<StreamOp>(std::ranges::find(names, name) - names.begin());
}

StreamTraffic traffic(StreamOp op) {
  switch (op) {
    case StreamOp::copy: return {.reads = 1, .writes = 1, .allocates = true, .uses = {true, false, true}, .target = 2};
    case StreamOp::scale: return {.reads = 1, .writes = 1, .allocates = true, .uses = {false, true, true}, .target = 1};
    case StreamOp::add: return {.reads = 2, .writes = 1, .allocates = true, .uses = {true, true, true}, .target = 2};
    case StreamOp::triad: return {.reads = 2, .writes = 1, .allocates = true, .uses = {true, true, true}};
    case StreamOp::read: return {.reads = 1, .writes = 0, .allocates = false, .uses = {true, false, false}};
    case StreamOp::write: return {.reads = 0, .writes = 1, .allocates = true, .uses = {true, false, false}};
    case StreamOp::update: return {.reads = 1, .writes = 1, .allocates = false, .uses = {true, false, false}};
  }
  return {};
}

unsigned arrays_of(StreamOp op) {
  const StreamTraffic moved = traffic(op);
  return static_cast<unsigned>(std::ranges::count(moved.uses, true));
}

double stream_scalar(StreamOp op, std::uint64_t pass) {
  if (op != StreamOp::update) return kStreamScalar;
  return pass % 2 == 0 ? 2 : 0.5;
}

namespace {

// Calls `visit` with the function that returns the expected element at an index, and returns the result.
template <class T, class Visit>
auto visit_expected(StreamOp op, std::uint64_t passes, unsigned array, const Visit& visit) {
  constexpr unsigned a = 0;
  constexpr unsigned b = 1;
  constexpr unsigned c = 2;
  const T q = static_cast<T>(kStreamScalar);
  const auto start = [](unsigned which, std::size_t i) { return stream_start<T>(which, i); };
  if (passes > 0) {
    if (op == StreamOp::copy && array == c) return visit([&](std::size_t i) { return start(a, i); });
    if (op == StreamOp::scale && array == b) return visit([&](std::size_t i) { return q * start(c, i); });
    if (op == StreamOp::add && array == c) return visit([&](std::size_t i) { return start(a, i) + start(b, i); });
    if (op == StreamOp::triad && array == a) return visit([&](std::size_t i) { return start(b, i) + q * start(c, i); });
    if (op == StreamOp::write && array == a) return visit([&](std::size_t) { return q; });
    if (op == StreamOp::update && array == a && passes % 2 == 1) {
      return visit([&](std::size_t i) { return 2 * start(a, i); });
    }
  }
  return visit([&](std::size_t i) { return start(array, i); });
}

}  // namespace

template <class T>
T stream_expected(StreamOp op, std::uint64_t passes, unsigned array, std::size_t index) {
  return visit_expected<T>(op, passes, array, [index](const auto& expected) { return expected(index); });
}

namespace {

// Counts the differences of a chunk without a branch for each element, and searches only a chunk that has some.
template <class T, class Expected>
std::size_t first_difference(const T* values, std::size_t first, std::size_t end, const Expected& expected) {
  constexpr std::size_t kChunk = 4096;
  for (std::size_t chunk = first; chunk < end; chunk += kChunk) {
    const std::size_t stop = std::min(chunk + kChunk, end);
    std::size_t wrong = 0;
    for (std::size_t i = chunk; i < stop; ++i) wrong += values[i] != expected(i) ? 1 : 0;
    for (std::size_t i = chunk; wrong > 0; ++i) {
      if (values[i] != expected(i)) return i;
    }
  }
  return end;
}

}  // namespace

template <class T>
std::size_t stream_mismatch(StreamOp op, std::uint64_t passes, unsigned array, const T* values, std::size_t first,
                            std::size_t end) {
  return visit_expected<T>(op, passes, array,
                           [=](const auto& expected) { return first_difference(values, first, end, expected); });
}

template std::size_t stream_mismatch<float>(StreamOp op, std::uint64_t passes, unsigned array, const float* values,
                                            std::size_t first, std::size_t end);
template std::size_t stream_mismatch<double>(StreamOp op, std::uint64_t passes, unsigned array, const double* values,
                                             std::size_t first, std::size_t end);

template <class T>
std::uint64_t stream_checksum(std::size_t first, std::size_t end) {
  std::uint64_t all = 0;
  for (std::size_t i = first; i < end; ++i) all ^= bits_of(stream_start<T>(0, i));
  return all;
}

template float stream_expected<float>(StreamOp op, std::uint64_t passes, unsigned array, std::size_t index);
template double stream_expected<double>(StreamOp op, std::uint64_t passes, unsigned array, std::size_t index);
template std::uint64_t stream_checksum<float>(std::size_t first, std::size_t end);
template std::uint64_t stream_checksum<double>(std::size_t first, std::size_t end);

}  // namespace nameplate
