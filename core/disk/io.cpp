#include "disk/io.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>

#include "measure/clock.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr std::uint64_t kAlignment = 4096;
// Long enough that a file system's compression finds no repetition in its window; still within a second-level cache.
constexpr std::uint64_t kWrittenText_bytes = 256 << 10;
constexpr unsigned kMaxTextSlots = 64;
// The amount of the last call that is read back: enough to be sure, and seconds faster than a large file.
constexpr std::uint64_t kMaxVerified_bytes = 256 << 20;
constexpr std::uint64_t kMaxVerified = 1 << 16;
constexpr unsigned kPercent = 100;
// The limits of the work between two readings of the clock, if a worker ends by time.
constexpr std::uint64_t kTimed_bytes = 64 << 10;
constexpr std::uint64_t kMaxTimed = 64;

// A function-local static, since libraries register during static initialisation.
std::map<std::string, IoLibrary>& io_libraries() {
  static std::map<std::string, IoLibrary> libraries;
  return libraries;
}

unsigned slots_of(const IoSettings& settings) {
  if (settings.op == IoOp::read || settings.op == IoOp::readwrite) return settings.depth;
  const std::uint64_t text = std::clamp<std::uint64_t>(kWrittenText_bytes / settings.block_bytes, 1, kMaxTextSlots);
  return std::max(settings.depth, static_cast<unsigned>(std::bit_floor(text)));
}

std::uint64_t stride_of(const IoSettings& settings) {
  // Slots are adjacent; those for O_DIRECT are multiples of a sector.
  if (settings.block_bytes < kAlignment) return settings.block_bytes;
  return (settings.block_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool read_fully(int descriptor, std::byte* data, std::uint64_t bytes, std::uint64_t offset) {
  while (bytes > 0) {
    const ssize_t got = pread(descriptor, data, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace

std::vector<std::string> io_library_names() {
  std::vector<std::string> names;
  for (const auto& [name, library] : io_libraries()) names.push_back(name);
  return names;
}

const IoLibrary& find_io_library(const std::string& name) { return io_libraries().at(name); }

IoRegistration::IoRegistration(const IoLibrary& library) { io_libraries().emplace(library.name, library); }

std::uint64_t io_worker_bytes(const IoSettings& settings) {
  const std::uint64_t copies = settings.op == IoOp::mixed ? 3 : settings.op == IoOp::write ? 2 : 1;
  return copies * slots_of(settings) * stride_of(settings);
}

IoWorker::IoWorker(const IoSettings& settings, const IoPart& part)
    : settings_(settings),
      part_(part),
      slots_(slots_of(settings)),
      stride_bytes_(stride_of(settings)),
      buffers_(stride_bytes_ * slots_ * (settings.op == IoOp::mixed ? 2 : 1), Pages::small),
      original_(part.content_seed),
      written_(settings.block_bytes, settings.op == IoOp::write || settings.op == IoOp::mixed ? slots_ : 0, part.seed),
      order_(settings.pattern, part.blocks, settings.block_bytes, part.seed),
      before_(order_),
      read_at_(slots_, kNothing),
      random_(mixed(part.seed)),
      ns_per_tick_(1e9 * Clock::get().seconds(1)) {
  buffers_.touch(0, buffers_.size_bytes());
  if (settings.op == IoOp::mixed) {
    read_histogram_ = std::make_unique<Histogram>();
    write_histogram_ = std::make_unique<Histogram>();
  }
  if (settings.op != IoOp::write && settings.op != IoOp::mixed) return;
  for (unsigned slot = 0; slot < slots_; ++slot) written_.fill_slot(write_buffer(slot), slot);
}

void IoWorker::start_call() {
  before_ = order_;
  ++call_;
  done_ = 0;
  for (Histogram* histogram : {histogram_.get(), read_histogram_.get(), write_histogram_.get()}) {
    if (histogram != nullptr) histogram->clear();
  }
}

void IoWorker::run(std::uint64_t operations) {
  start_call();
  transfer(operations);
  if (!stopped()) flush();
}

// The clock is read after a multiple of the slots, so that the content of a block follows from the number of its
// operation in the call.
void IoWorker::run_until(Ticks end) {
  const std::uint64_t requested = std::clamp<std::uint64_t>(kTimed_bytes / settings_.block_bytes, 1, kMaxTimed);
  const std::uint64_t operations = (requested + slots_ - 1) / slots_ * slots_;
  start_call();
  do {
    transfer(operations);
  } while (!stopped() && Clock::now() < end);
  if (!stopped()) flush();
}

std::span<const std::uint64_t> IoWorker::next_offsets(std::uint64_t count) {
  return order_.next(std::min<std::uint64_t>(count, BlockOrder::kChunk));
}

bool IoWorker::writes_only(std::uint64_t index) const {
  return settings_.op == IoOp::mixed && mixed(index ^ part_.seed ^ call_ << 32U) % kPercent >= settings_.reads_percent;
}

unsigned IoWorker::until_next_timed() {
  if (settings_.timed_every == 1) return 1;
  random_ = mixed(random_);
  return 1 + static_cast<unsigned>(random_ >> 32U) % (2 * settings_.timed_every - 1);
}

void IoWorker::verify(int descriptor, const std::string& file) const {
  if (settings_.op != IoOp::write) verify_reads(file);
  if (settings_.op != IoOp::read) verify_writes(descriptor, file);
}

void IoWorker::verify_reads(const std::string& file) const {
  for (unsigned slot = 0; slot < slots_; ++slot) {
    const std::uint64_t offset = read_at_[slot];
    if (offset == kNothing) continue;
    if (settings_.op == IoOp::mixed) {
      const bool has_stamp = offset % kStampEvery == 0 && settings_.block_bytes % kStampEvery == 0;
      if (!has_stamp || begins_with_offset(read_buffer(slot), offset)) continue;
      wrong_result(fmt::format("{}: the block read at {} belongs elsewhere", file, offset));
    }
    if (const auto difference = original_.find_difference({read_buffer(slot), settings_.block_bytes}, offset)) {
      wrong_result(fmt::format("{}: the byte read at {} differs from the file's content", file, offset + *difference));
    }
  }
}

void IoWorker::verify_unknown(int descriptor, const std::string& file) const {
  std::vector<std::byte> block(settings_.block_bytes);
  for (unsigned slot = 0; slot < slots_; ++slot) {
    const std::uint64_t offset = read_at_[slot];
    if (offset == kNothing) continue;
    if (!read_fully(descriptor, block.data(), block.size(), offset)) {
      fail(fmt::format("{}: cannot read again at {}: {}", file, offset, std::strerror(errno)));
    }
    if (std::memcmp(block.data(), read_buffer(slot), block.size()) != 0) {
      wrong_result(fmt::format("{}: the block at {} differs when read again", file, offset));
    }
  }
}

void IoWorker::visit_last_call(std::uint64_t most, const std::function<bool(std::uint64_t, std::uint64_t)>& use) const {
  BlockOrder order = before_;
  const std::uint64_t count = std::min(most, done_);
  for (std::uint64_t index = 0; index < count;) {
    for (const std::uint64_t at : order.next(std::min<std::uint64_t>(count - index, BlockOrder::kChunk))) {
      if (!use(index++, part_.offset + at)) return;
    }
  }
}

void IoWorker::verify_writes(int descriptor, const std::string& file) const {
  std::vector<std::byte> block(settings_.block_bytes);
  const std::uint64_t most = std::clamp<std::uint64_t>(kMaxVerified_bytes / settings_.block_bytes, 1, kMaxVerified);
  visit_last_call(most, [&](std::uint64_t index, std::uint64_t offset) {
    if (!writes(index)) return true;
    if (!read_fully(descriptor, block.data(), block.size(), offset)) {
      fail(fmt::format("{}: cannot read back at {}: {}", file, offset, std::strerror(errno)));
    }
    const auto difference = settings_.op == IoOp::readwrite ? original_.find_difference(block, offset)
                                                            : written_.find_difference(block, offset, call_);
    if (difference)
      wrong_result(fmt::format("{}: the byte at {} differs from what was written there", file, offset + *difference));
    return true;
  });
}

}  // namespace nameplate
