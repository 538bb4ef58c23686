// One worker's way of reading and writing its part of a file through one I/O library. Each library is a file io_*.cpp:
// those that do one operation after the other share the loop of sync_io.h, those with a queue that of async_io.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "disk/block_order.h"
#include "disk/content.h"
#include "machine/buffer.h"
#include "record/histogram.h"
#include "record/worker.h"

namespace nameplate {

enum class IoOp {
  read,
  write,
  readwrite,  // read a block and write it back: one operation, whose bytes count once
  mixed,      // each operation either reads or writes
};

enum class IoSync {
  none,
  end,   // fdatasync once, inside the timed region
  each,  // every write reaches the device before the next begins
};

// The same for all workers.
struct IoSettings {
  IoOp op = IoOp::read;
  unsigned reads_percent = 0;  // of a mixed row
  Pattern pattern = Pattern::sequential;
  std::uint64_t block_bytes = 0;
  unsigned depth = 1;
  bool direct = false;
  IoSync sync = IoSync::none;
  unsigned timed_every = 1;  // one in so many operations, on average, is timed by itself
  double interval_s = 0;     // between the planned starts of a worker's operations; 0: as fast as possible
};

// A worker's part of a file that is open anew for it, with an offset of its own.
struct IoPart {
  int descriptor = -1;
  std::uint64_t begin = 0;  // bytes
  std::uint64_t blocks = 0;
  std::uint64_t seed = 0;          // of the order and of what is written
  double delay_s = 0;              // of the first planned start
  std::uint64_t content_seed = 0;  // of what the file was made with
};

// The first operation that did not do what it should.
struct IoError {
  std::string what;  // "read", "write", "fdatasync"
  int number = 0;    // errno; 0: fewer bytes than asked for
  std::uint64_t offset = 0;
};

class IoWorker {
 public:
  IoWorker(const IoSettings& settings, const IoPart& part);
  IoWorker(const IoWorker&) = delete;
  IoWorker& operator=(const IoWorker&) = delete;
  IoWorker(IoWorker&&) = delete;
  IoWorker& operator=(IoWorker&&) = delete;
  virtual ~IoWorker() = default;

  // The timed region of one call. Ends early at an error, which `error` then tells.
  void run(std::uint64_t operations);

  // Untimed, before a call: as if the file had not been used before, where the library itself keeps something of it.
  virtual void forget() {}

  void begin_pass() { order_.begin_pass(); }

  // What a test of the last call finds wrong: of blocks read in their buffers, of blocks written through `descriptor`.
  // Calls wrong_result with `file` and the offset.
  void verify(int descriptor, const std::string& file) const;
  // Of somebody else's content it is only known that it reads the same again.
  void verify_unknown(int descriptor, const std::string& file) const;

  const std::optional<IoError>& error() const { return error_; }
  // Of the last call: operations done, and their times.
  std::uint64_t done() const { return done_; }
  const Histogram& histogram() const { return *histogram_; }
  // Whether a queue's buffers are registered with the kernel.
  virtual bool has_registered_buffers() const { return false; }

 protected:
  virtual void transfer(std::uint64_t operations) = 0;
  // Everything written so far reaches the device, for IoSync::end, and a library's own buffer the system.
  virtual void flush() = 0;

  const IoSettings& settings() const { return settings_; }
  const IoPart& part() const { return part_; }
  const Buffer& buffers() const { return buffers_; }
  unsigned slots() const { return slots_; }
  std::byte* write_buffer(unsigned slot) const { return buffers_.data() + slot * stride_bytes_; }
  // Of a mixed row another one, since what is written must not be what was read.
  std::byte* read_buffer(unsigned slot) const {
    return write_buffer(settings_.op == IoOp::mixed ? slots_ + slot : slot);
  }
  std::span<const std::uint64_t> next_offsets(std::uint64_t wanted);

  bool reads(std::uint64_t index) const { return settings_.op != IoOp::write && !writes_only(index); }
  bool writes(std::uint64_t index) const {
    return settings_.op == IoOp::write || settings_.op == IoOp::readwrite || writes_only(index);
  }
  // Of operations that write what was not read.
  void stamp(unsigned slot, std::uint64_t offset) const {
    if (settings_.op != IoOp::readwrite) written_.stamp(write_buffer(slot), slot, offset, call_);
  }
  void note_read(unsigned slot, std::uint64_t offset) { read_at_[slot] = offset; }

  void stop(const char* what, int number, std::uint64_t offset) {
    if (!error_) error_ = IoError{what, number, offset};
  }
  bool stopped() const { return error_.has_value(); }
  void count_done() { ++done_; }
  void note_time(Ticks ticks) {
    histogram_->add(static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_));
  }
  // How many operations go by until the next one that is timed: at random, so that no rhythm of the load is followed.
  unsigned until_next_timed();

 private:
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  bool writes_only(std::uint64_t index) const;
  void verify_reads(const std::string& file) const;
  void verify_writes(int descriptor, const std::string& file) const;
  void each_of_last_call(std::uint64_t most,
                         const std::function<bool(std::uint64_t index, std::uint64_t offset)>& use) const;

  IoSettings settings_;
  IoPart part_;
  unsigned slots_;
  std::uint64_t stride_bytes_;
  Buffer buffers_;
  OriginalContent original_;
  WrittenContent written_;
  BlockOrder order_;
  BlockOrder before_;  // as it was when the last call began
  std::unique_ptr<Histogram> histogram_ = std::make_unique<Histogram>();
  std::vector<std::uint64_t> read_at_;  // by slot: where its content was read
  std::optional<IoError> error_;
  std::uint64_t call_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t random_;
  double ns_per_tick_;
};

// A library's file ends with one line:
//   const IoRegistration kRegistration({.name = "pread", .make = make_io<SyncIo<Pread>>});
struct IoLibrary {
  std::string name;
  // To be called by the thread that will run it. Refuses (probe/error.h) what the system does not allow.
  std::unique_ptr<IoWorker> (*make)(const IoSettings& settings, const IoPart& part);
  bool has_queue = false;      // keeps several operations in flight
  bool maps_file = false;      // the file must have its size before it is written to
  std::string why_not_direct;  // it cannot go past the page cache; empty: it can
};

// By name.
std::vector<std::string> io_library_names();
const IoLibrary& find_io_library(const std::string& name);

struct IoRegistration {
  explicit IoRegistration(const IoLibrary& library);
};

template <class T>
std::unique_ptr<IoWorker> make_io(const IoSettings& settings, const IoPart& part) {
  return std::make_unique<T>(settings, part);
}

// Bytes of memory that a worker of such settings takes.
std::uint64_t io_worker_bytes(const IoSettings& settings);

}  // namespace nameplate
