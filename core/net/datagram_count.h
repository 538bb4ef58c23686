// Counts datagrams by the numbers and times that they carry.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "measure/clock.h"
#include "net/secret.h"

namespace nameplate {

// The header of every datagram of a stream.
struct DatagramHeader {
  std::uint16_t sample = 0;
  std::uint16_t is_end = 0;   // the last one of this sample
  std::uint32_t sent_us = 0;  // by the sender's clock; only differences are meaningful
  std::uint64_t number = 0;   // within the sample

  void write(std::uint8_t* target) const { std::memcpy(target, this, sizeof *this); }
  static DatagramHeader read(const std::uint8_t* source) {
    DatagramHeader header;
    std::memcpy(&header, source, sizeof header);
    return header;
  }
};

static_assert(sizeof(DatagramHeader) == 16);

// Returns a time as a header carries it: microseconds, which begin anew after 71 minutes.
inline std::uint32_t wrapped_us(Ticks ticks) {
  constexpr double kPerSecond = 1e6;
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(Clock::get().seconds(ticks) * kPerSecond));
}

// Counts one sample's datagrams. A datagram is reordered if one with a larger number came before it (RFC 4737, section
// 3.3), and a duplicate if it came before; this is known for the last 65,536 numbers, and older ones count as
// duplicates. Jitter is the running mean of RFC 3550, section 6.4.1, with gain 1/16.
class DatagramCount {
 public:
  // Starts the next sample. The jitter goes on: it is an estimate over all datagrams of a stream.
  void clear() {
    DatagramCount next;
    next.has_transit_ = has_transit_;
    next.transit_us_ = transit_us_;
    next.jitter_us_ = jitter_us_;
    *this = next;
  }

  void note(std::uint64_t number, std::uint32_t sent_us, std::uint32_t now_us) {
    if (number >= next_) {
      const std::uint64_t last = number;
      const std::uint64_t first = last - next_ >= kWindow ? last - kWindow + 1 : next_;
      for (std::uint64_t i = first; i < last; ++i) forget(i);
      next_ = last + 1;
      remember(number);
    } else if (next_ - number > kWindow || knows(number)) {
      ++duplicates_;
      return;
    } else {
      ++reordered_;
      remember(number);
    }
    note_transit(now_us - sent_us);
    ++unique_;
  }

  std::uint64_t unique() const { return unique_; }
  std::uint64_t duplicates() const { return duplicates_; }
  std::uint64_t reordered() const { return reordered_; }
  double jitter_s() const { return jitter_us_ * 1e-6; }

 private:
  static constexpr std::uint64_t kWindow = 1U << 16U;
  static constexpr double kGain = 1.0 / 16;

  std::uint64_t& word(std::uint64_t number) { return seen_[number % kWindow / 64]; }
  static std::uint64_t bit(std::uint64_t number) { return std::uint64_t{1} << number % 64; }
  void remember(std::uint64_t number) { word(number) |= bit(number); }
  void forget(std::uint64_t number) { word(number) &= ~bit(number); }
  bool knows(std::uint64_t number) { return (word(number) & bit(number)) != 0; }

  // Both clocks wrap, and they differ by an unknown constant: only changes count.
  void note_transit(std::uint32_t transit_us) {
    if (has_transit_) {
      const auto change = static_cast<std::int32_t>(transit_us - transit_us_);
      jitter_us_ +=
          (static_cast<double>(change < 0 ? -static_cast<std::int64_t>(change) : change) - jitter_us_) * kGain;
    }
    transit_us_ = transit_us;
    has_transit_ = true;
  }

  std::array<std::uint64_t, kWindow / 64> seen_{};
  std::uint64_t next_ = 0;
  std::uint64_t unique_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t reordered_ = 0;
  bool has_transit_ = false;
  std::uint32_t transit_us_ = 0;
  double jitter_us_ = 0;
};

}  // namespace nameplate
