// The loop of the libraries that do one operation at a time.
//
// A `Library` is constructed from (descriptor, part, settings) and has
//   ssize_t read(std::byte* data, std::uint64_t offset), ssize_t write(const std::byte* data, std::uint64_t offset)
//                                       a block's bytes, fewer, or -1 with errno
//   int sync(std::uint64_t offset)      brings what was written at `offset` to the device: 0, or -1 with errno
//   int flush(bool to_device)           flushes the library's own buffer, and brings everything to the device
//   void forget()
//   bool guarded(body)                  calls it; false with errno if the system interrupted it
#pragma once

#include <cerrno>

#include "disk/io.h"
#include "measure/clock.h"
#include "measure/pace.h"

namespace nameplate {

template <class Library>
class SyncIo final : public IoWorker {
 public:
  SyncIo(const IoSettings& settings, const IoPart& part)
      : IoWorker(settings, part), library_(part, settings), pace_(settings.interval_s, part.delay_s) {}

  void forget() override { library_.forget(); }

 protected:
  void transfer(std::uint64_t operations) override {
    const bool is_complete = library_.guarded([this, operations] {
      if (settings().interval_s > 0) {
        keep_pace(operations);
      } else if (settings().timed_every == 1) {
        time_all(operations);
      } else {
        time_some(operations);
      }
    });
    if (!is_complete) stop("access", errno, at_);
  }

  void flush() override {
    if (settings().op == IoOp::read) return;
    if (library_.flush(settings().sync == IoSync::end) != 0) stop("fdatasync", errno, at_);
  }

 private:
  // Times operations back to back; the end of one is the start of the next.
  void time_all(std::uint64_t operations) {
    Ticks last = Clock::now();
    visit_operations(operations, [&](std::uint64_t index, std::uint64_t offset) {
      one(index, offset);
      const Ticks now = Clock::now();
      note_time(now - last, index);
      last = now;
    });
  }

  void time_some(std::uint64_t operations) {
    unsigned left = until_next_timed();
    visit_operations(operations, [&](std::uint64_t index, std::uint64_t offset) {
      if (--left > 0) [[likely]] {
        one(index, offset);
        return;
      }
      const Ticks start = Clock::now();
      one(index, offset);
      note_time(Clock::now() - start, index);
      left = until_next_timed();
    });
  }

  // From the planned start: the delay that one operation causes for the next ones is counted.
  void keep_pace(std::uint64_t operations) {
    pace_.start();
    visit_operations(operations, [&](std::uint64_t index, std::uint64_t offset) {
      const Ticks planned = pace_.planned(index);
      Pace::wait_until(planned);
      one(index, offset);
      note_time(Clock::now() - planned, index);
    });
    if (!stopped()) pace_.finish(operations);
  }

  template <class Use>
  void visit_operations(std::uint64_t operations, Use use) {
    for (std::uint64_t index = 0; index < operations;) {
      for (const std::uint64_t offset : next_offsets(operations - index)) {
        use(index++, offset);
        if (stopped()) [[unlikely]]
          return;
      }
    }
  }

  void one(std::uint64_t index, std::uint64_t offset_in_part) {
    const std::uint64_t offset = part().offset + offset_in_part;
    const auto slot = static_cast<unsigned>(index & (slots() - 1));
    at_ = offset;
    if (reads(index)) {
      if (!moved("read", library_.read(read_buffer(slot), offset))) return;
      note_read(slot, offset);
    }
    if (writes(index)) {
      stamp(slot, offset);
      if (!moved("write", library_.write(write_buffer(slot), offset))) return;
      if (settings().sync == IoSync::every_write && library_.sync(offset) != 0) {
        stop("fdatasync", errno, offset);
        return;
      }
    }
    count_done();
  }

  bool moved(const char* operation, ssize_t bytes) {
    if (bytes == static_cast<ssize_t>(settings().block_bytes)) [[likely]]
      return true;
    stop(operation, bytes < 0 ? errno : 0, at_);
    return false;
  }

  Library library_;
  Pace pace_;
  std::uint64_t at_ = 0;  // the file offset of the current operation
};

// A library without buffers or guards of its own.
struct PlainLibrary {
  void forget() {}
  template <class Body>
  bool guarded(Body body) {
    body();
    return true;
  }
};

}  // namespace nameplate
