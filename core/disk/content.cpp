#include "disk/content.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace nameplate {

namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kChecksumBits = (std::uint64_t{1} << 48U) - 1;

std::uint64_t checksum(std::uint64_t offset, std::uint64_t call) { return mixed(offset ^ mixed(call)); }

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// Returns the first index at which two ranges differ.
std::optional<std::size_t> first_difference(std::span<const std::byte> a, const std::byte* b) {
  if (std::memcmp(a.data(), b, a.size()) == 0) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::mismatch(a, std::span(b, a.size())).in1 - a.begin());
}

}  // namespace

std::uint64_t OriginalContent::word(std::uint64_t offset) const {
  return offset % kStampEvery == 0 ? offset : mixed(offset ^ seed_);
}

void OriginalContent::fill(std::span<std::byte> data, std::uint64_t offset) const {
  // Copies the bytes of one word, starting at `inside`.
  const auto part = [&](std::size_t at, std::uint64_t inside, std::size_t bytes) {
    const std::uint64_t value = word(offset + at - inside);
    std::array<std::byte, kWord> full_word{};
    std::memcpy(full_word.data(), &value, kWord);
    std::memcpy(data.data() + at, full_word.data() + inside, bytes);
  };
  std::size_t at = std::min<std::size_t>((kWord - offset % kWord) % kWord, data.size());
  if (at > 0) part(0, offset % kWord, at);
  for (; at + kWord <= data.size(); at += kWord) {
    const std::uint64_t value = word(offset + at);
    std::memcpy(data.data() + at, &value, kWord);
  }
  if (at < data.size()) part(at, 0, data.size() - at);
}

std::optional<std::size_t> OriginalContent::find_difference(std::span<const std::byte> data,
                                                            std::uint64_t offset) const {
  std::array<std::byte, kStampEvery> expected{};
  for (std::size_t at = 0; at < data.size(); at += expected.size()) {
    const auto part = data.subspan(at, std::min(expected.size(), data.size() - at));
    fill({expected.data(), part.size()}, offset + at);
    if (const auto difference = first_difference(part, expected.data())) return at + *difference;
  }
  return std::nullopt;
}

WrittenContent::WrittenContent(std::uint64_t block_bytes, unsigned slots, std::uint64_t seed)
    : block_bytes_(block_bytes), text_(block_bytes * slots) {
  for (std::size_t at = 0; at < text_.size(); at += kWord) {
    const std::uint64_t value = mixed(seed ^ at);
    std::memcpy(text_.data() + at, &value, std::min<std::size_t>(kWord, text_.size() - at));
  }
}

void WrittenContent::fill_slot(std::byte* block, unsigned slot) const {
  std::memcpy(block, text_.data() + slot * block_bytes_, block_bytes_);
}

void WrittenContent::put(std::byte* target, std::uint64_t offset, unsigned slot, std::uint64_t call) {
  const std::uint64_t second = (checksum(offset, call) & kChecksumBits) | std::uint64_t{slot} << kSlotShift;
  std::memcpy(target, &offset, kWord);
  std::memcpy(target + kWord, &second, kWord);
}

void WrittenContent::stamp_small(std::byte* block, std::uint64_t offset, std::uint64_t call) const {
  std::array<std::uint64_t, 2> sums = {checksum(offset, call), checksum(~offset, call)};
  std::memcpy(block, sums.data(), block_bytes_);
}

std::optional<std::size_t> WrittenContent::find_difference(std::span<const std::byte> block, std::uint64_t offset,
                                                           std::uint64_t call) const {
  std::vector<std::byte> expected(block_bytes_);
  if (block_bytes_ < kStampBytes) {
    stamp_small(expected.data(), offset, call);
  } else {
    const auto slot = static_cast<unsigned>(word_at(block.data() + kWord) >> kSlotShift);
    if ((slot + 1) * block_bytes_ > text_.size()) return kWord;
    std::memcpy(expected.data(), text_.data() + slot * block_bytes_, block_bytes_);
    stamp(expected.data(), slot, offset, call);
  }
  return first_difference(block, expected.data());
}

bool begins_with_offset(const std::byte* block, std::uint64_t offset) { return word_at(block) == offset; }

}  // namespace nameplate
