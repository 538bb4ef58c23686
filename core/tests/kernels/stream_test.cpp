#include "kernels/stream.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace nameplate {
namespace {

// Three arrays with the alignment that non-temporal stores need, each followed by a guard.
template <class T>
class Arrays {
 public:
  explicit Arrays(std::size_t count) : count_(count) {
    for (unsigned which = 0; which < 3; ++which) {
      for (std::size_t i = 0; i < kMax; ++i) memory_.at(which).at(i) = i < count ? stream_start<T>(which, i) : T{-1};
    }
  }

  StreamArrays<T> get() { return {memory_[0].data(), memory_[1].data(), memory_[2].data()}; }

  void expect_after(StreamOp op, std::uint64_t passes, const std::string& label) const {
    for (unsigned which = 0; which < 3; ++which) {
      for (std::size_t i = 0; i < kMax; ++i) {
        const T expected = i < count_ ? stream_expected<T>(op, passes, which, i) : T{-1};
        ASSERT_EQ(memory_.at(which).at(i), expected) << label << ", array " << which << ", element " << i;
      }
    }
  }

 private:
  static constexpr std::size_t kMax = 512;
  std::size_t count_;
  alignas(64) std::array<std::array<T, kMax>, 3> memory_{};
};

template <class T>
void expect_every_loop_right(Isa isa) {
  for (const std::string& name : stream_op_names()) {
    const StreamOp op = parse_stream_op(name);
    for (const Stores stores : {Stores::plain, Stores::nontemporal}) {
      const StreamLoop<T> loop = stream_loop<T>(isa, op, stores);
      if (loop == nullptr) continue;
      for (const std::size_t count : {1U, 7U, 64U, 129U, 500U}) {
        Arrays<T> arrays(count);
        for (std::uint64_t pass = 0; pass < 3; ++pass) {
          const std::uint64_t checksum = loop(arrays.get(), static_cast<T>(stream_scalar(op, pass)), count, 1);
          EXPECT_EQ(checksum, op == StreamOp::read ? stream_checksum<T>(0, count) : 0) << name;
          arrays.expect_after(op, pass + 1, to_string(isa) + " " + name);
        }
      }
    }
  }
}

template <class T>
void expect_passes_added_up(Isa isa) {
  constexpr std::size_t kCount = 500;
  constexpr std::uint64_t kPasses = 3;
  for (const std::string& name : stream_op_names()) {
    const StreamOp op = parse_stream_op(name);
    Arrays<T> arrays(kCount);
    const StreamLoop<T> loop = stream_loop<T>(isa, op, Stores::plain);
    const std::uint64_t sum = loop(arrays.get(), static_cast<T>(stream_scalar(op, 0)), kCount, kPasses);
    EXPECT_EQ(sum, op == StreamOp::read ? kPasses * stream_checksum<T>(0, kCount) : 0) << name;
    // Except for `update`, which the caller calls with another scalar each time, a pass repeats the one before it.
    if (op != StreamOp::update) arrays.expect_after(op, kPasses, to_string(isa) + " " + name);
  }
}

TEST(StreamLoops, DoAsManyPassesAsTheyAreAskedFor) {
  for (const Isa isa : compiled_isas()) {
    if (why_not(isa) || isa == Isa::amx) continue;
    expect_passes_added_up<double>(isa);
    expect_passes_added_up<float>(isa);
  }
}

TEST(StreamLoops, AgreeWithScalarCodeInEveryElementAndTouchNothingElse) {
  for (const Isa isa : compiled_isas()) {
    if (why_not(isa) || isa == Isa::amx) continue;
    expect_every_loop_right<double>(isa);
    expect_every_loop_right<float>(isa);
  }
}

template <class T>
void expect_first_difference() {
  constexpr std::size_t kFirst = 5;
  constexpr std::size_t kEnd = 9000;
  for (const std::string& name : stream_op_names()) {
    const StreamOp op = parse_stream_op(name);
    for (unsigned array = 0; array < 3; ++array) {
      for (const std::uint64_t passes : {0U, 1U, 2U}) {
        std::vector<T> values(kEnd);
        for (std::size_t i = 0; i < kEnd; ++i) values[i] = stream_expected<T>(op, passes, array, i);
        values[kFirst - 1] = -1;  // outside
        const auto mismatch = [&] { return stream_mismatch<T>(op, passes, array, values.data(), kFirst, kEnd); };
        EXPECT_EQ(mismatch(), kEnd) << name << " array " << array << " after " << passes;
        for (const std::size_t wrong : {kEnd - 1, std::size_t{4500}, kFirst}) {
          values[wrong] = -1;
          EXPECT_EQ(mismatch(), wrong) << name << " array " << array << " after " << passes;
        }
      }
    }
  }
}

TEST(StreamLoops, TheFirstWrongElementIsFound) {
  expect_first_difference<double>();
  expect_first_difference<float>();
}

TEST(StreamLoops, ValuesStayBoundedForAnyNumberOfPasses) {
  for (const std::string& name : stream_op_names()) {
    const StreamOp op = parse_stream_op(name);
    for (unsigned array = 0; array < 3; ++array) {
      EXPECT_LT(stream_expected<double>(op, 1'000'000'001, array, 5), 10) << name;
      EXPECT_GE(stream_expected<double>(op, 1'000'000'000, array, 5), 1) << name;
    }
  }
}

TEST(StreamTraffic, CountsAsStreamDoes) {
  EXPECT_EQ(traffic(StreamOp::copy).reads + traffic(StreamOp::copy).writes, 2U);
  EXPECT_EQ(traffic(StreamOp::triad).reads + traffic(StreamOp::triad).writes, 3U);
  EXPECT_TRUE(traffic(StreamOp::triad).allocates);
  EXPECT_FALSE(traffic(StreamOp::update).allocates);
}

}  // namespace
}  // namespace nameplate
