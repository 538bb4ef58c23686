// One worker that reads and writes its part of a file through one I/O library. Each library is a file io_*.cpp: those
// that do one operation after the other share the loop in sync_io.h, those with a queue the one in async_io.h.
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
  end,          // one fdatasync, inside the timed region
  every_write,  // every write reaches the device before the next one starts
};

// The settings that all workers share.
struct IoSettings {
  IoOp op = IoOp::read;
  unsigned reads_percent = 0;  // for mixed
  Pattern pattern = Pattern::sequential;
  std::uint64_t block_bytes = 0;
  unsigned depth = 1;
  bool direct = false;
  IoSync sync = IoSync::none;
  unsigned timed_every = 1;  // one in this many operations, on average, is timed
  double interval_s = 0;     // between the planned starts of a worker's operations; 0: as fast as possible
};

// A worker's part of a file, opened separately with its own offset.
struct IoPart {
  int descriptor = -1;
  std::uint64_t offset = 0;  // bytes
  std::uint64_t blocks = 0;
  std::uint64_t seed = 0;          // of the order and of the written content
  double delay_s = 0;              // of the first planned start
  std::uint64_t content_seed = 0;  // of the file's original content
};

// The first operation that failed.
struct IoError {
  std::string operation;  // "read", "write", "fdatasync"
  int number = 0;         // errno; 0 if fewer bytes than requested were transferred
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

  // Runs the timed region of one call. Stops early at an error, which `error` then returns.
  void run(std::uint64_t operations);
  // Runs until the time `end`, through at least a small number of operations; not for mixed operations.
  void run_until(Ticks end);

  // Before a call, untimed: drops what the library itself keeps of the file.
  virtual void forget() {}

  void start_pass() { order_.start_pass(); }

  // Checks the last call: blocks read in their buffers, blocks written through `descriptor`. Calls wrong_result with
  // `file` and the offset on a difference.
  void verify(int descriptor, const std::string& file) const;
  // For content of unknown origin, checks that it reads the same again.
  void verify_unknown(int descriptor, const std::string& file) const;

  const std::optional<IoError>& error() const { return error_; }
  // Return the number of operations that the last call did, and their times.
  std::uint64_t done() const { return done_; }
  const Histogram& histogram() const { return *histogram_; }
  // Return the times of the reads and of the writes alone; only for mixed operations.
  const Histogram& read_histogram() const { return *read_histogram_; }
  const Histogram& write_histogram() const { return *write_histogram_; }
  // Returns whether a queue's buffers are registered with the kernel.
  virtual bool has_registered_buffers() const { return false; }

 protected:
  virtual void transfer(std::uint64_t operations) = 0;
  // Flushes the library's buffer and, for IoSync::end, brings everything to the device.
  virtual void flush() = 0;

  const IoSettings& settings() const { return settings_; }
  const IoPart& part() const { return part_; }
  const Buffer& buffers() const { return buffers_; }
  unsigned slots() const { return slots_; }
  std::byte* write_buffer(unsigned slot) const { return buffers_.data() + slot * stride_bytes_; }
  // Mixed operations use a separate buffer, since written data must not be data that was read.
  std::byte* read_buffer(unsigned slot) const {
    return write_buffer(settings_.op == IoOp::mixed ? slots_ + slot : slot);
  }
  std::span<const std::uint64_t> next_offsets(std::uint64_t count);

  bool reads(std::uint64_t index) const { return settings_.op != IoOp::write && !writes_only(index); }
  bool writes(std::uint64_t index) const {
    return settings_.op == IoOp::write || settings_.op == IoOp::readwrite || writes_only(index);
  }
  // For operations that write data other than what was read.
  void stamp(unsigned slot, std::uint64_t offset) const {
    if (settings_.op != IoOp::readwrite) written_.stamp(write_buffer(slot), slot, offset, call_);
  }
  void note_read(unsigned slot, std::uint64_t offset) { read_at_[slot] = offset; }

  void stop(const char* operation, int number, std::uint64_t offset) {
    if (!error_) error_ = IoError{operation, number, offset};
  }
  bool stopped() const { return error_.has_value(); }
  void count_done() { ++done_; }
  void note_time(Ticks ticks, std::uint64_t index) {
    const auto time_ns = static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
    histogram_->add(time_ns);
    if (settings_.op == IoOp::mixed) (writes_only(index) ? write_histogram_ : read_histogram_)->add(time_ns);
  }
  // Returns how many operations pass until the next timed one, at random so that no rhythm of the load is followed.
  unsigned until_next_timed();

 private:
  void start_call();

  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  bool writes_only(std::uint64_t index) const;
  void verify_reads(const std::string& file) const;
  void verify_writes(int descriptor, const std::string& file) const;
  void visit_last_call(std::uint64_t most,
                       const std::function<bool(std::uint64_t index, std::uint64_t offset)>& use) const;

  IoSettings settings_;
  IoPart part_;
  unsigned slots_;
  std::uint64_t stride_bytes_;
  Buffer buffers_;
  OriginalContent original_;
  WrittenContent written_;
  BlockOrder order_;
  BlockOrder before_;  // as it was when the last call started
  std::unique_ptr<Histogram> histogram_ = std::make_unique<Histogram>();
  std::unique_ptr<Histogram> read_histogram_;
  std::unique_ptr<Histogram> write_histogram_;
  std::vector<std::uint64_t> read_at_;  // by slot: the offset that its content was read from
  std::optional<IoError> error_;
  std::uint64_t call_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t random_;
  double ns_per_tick_;
};

// A library's file ends with one line:
//   const IoRegistration kPread({.name = "pread", .make = make_io<SyncIo<Pread>>});
struct IoLibrary {
  std::string name;
  // Called by the thread that will run it. Refuses (probe/error.h) what the system does not allow.
  std::unique_ptr<IoWorker> (*make)(const IoSettings& settings, const IoPart& part);
  bool has_queue = false;      // keeps several operations in flight
  bool maps_file = false;      // the file must have its size before it is written to
  std::string why_not_direct;  // why it cannot bypass the page cache; empty if it can
};

// Returns the names in order.
std::vector<std::string> io_library_names();
const IoLibrary& find_io_library(const std::string& name);

struct IoRegistration {
  explicit IoRegistration(const IoLibrary& library);
};

template <class T>
std::unique_ptr<IoWorker> make_io(const IoSettings& settings, const IoPart& part) {
  return std::make_unique<T>(settings, part);
}

// Returns the memory that a worker with these settings uses.
std::uint64_t io_worker_bytes(const IoSettings& settings);

}  // namespace nameplate
