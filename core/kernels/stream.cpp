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

template <class T>
T stream_expected(StreamOp op, std::uint64_t passes, unsigned array, std::size_t index) {
  const auto start = [index](unsigned which) { return stream_start<T>(which, index); };
  constexpr unsigned a = 0;
  constexpr unsigned b = 1;
  constexpr unsigned c = 2;
  const T q = static_cast<T>(kStreamScalar);
  if (passes == 0) return start(array);
  if (op == StreamOp::copy && array == c) return start(a);
  if (op == StreamOp::scale && array == b) return q * start(c);
  if (op == StreamOp::add && array == c) return start(a) + start(b);
  if (op == StreamOp::triad && array == a) return start(b) + q * start(c);
  if (op == StreamOp::write && array == a) return q;
  if (op == StreamOp::update && array == a && passes % 2 == 1) return 2 * start(a);
  return start(array);
}

template <class T>
std::uint64_t stream_sum(std::size_t begin, std::size_t end) {
  std::uint64_t sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += bits_of(stream_start<T>(0, i));
  return sizeof(T) == sizeof(std::uint64_t) ? sum : sum & 0xFFFFFFFFU;
}

template float stream_expected<float>(StreamOp op, std::uint64_t passes, unsigned array, std::size_t index);
template double stream_expected<double>(StreamOp op, std::uint64_t passes, unsigned array, std::size_t index);
template std::uint64_t stream_sum<float>(std::size_t begin, std::size_t end);
template std::uint64_t stream_sum<double>(std::size_t begin, std::size_t end);

}  // namespace nameplate
