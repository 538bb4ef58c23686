// STREAM's arrays on a team of workers: each fills, passes over and checks its own part.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/isa.h"
#include "kernels/stream.h"
#include "machine/buffer.h"
#include "machine/pmem.h"
#include "measure/team.h"

namespace nameplate {

// After what stores are made durable: each element, or each worker's part of the array.
enum class PersistBy { none, element, array };

struct StreamSettings {
  StreamOp op = StreamOp::triad;
  std::optional<Stores> stores;  // nothing: whichever is faster in a trial
  std::size_t array_bytes = 0;   // of each array
  std::size_t block_bytes = 0;   // 0: every worker's part at once
  bool random_blocks = false;    // blocks in a random order, the same in every pass
  std::size_t step_bytes = 0;    // of each worker's part of an array, in a step; 0: a step is a whole pass
  Pages pages = Pages::huge;
  std::optional<unsigned> memory_node;  // nothing: where the worker runs
  // Allocates the arrays; empty: ordinary memory, on `pages`.
  std::function<Buffer(std::size_t size_bytes)> allocate;
  PersistBy persist_by = PersistBy::none;
  PersistFunction persist = nullptr;  // for what `allocate` returns
};

class StreamTask {
 public:
  StreamTask() = default;
  StreamTask(const StreamTask&) = delete;
  StreamTask& operator=(const StreamTask&) = delete;
  StreamTask(StreamTask&&) = delete;
  StreamTask& operator=(StreamTask&&) = delete;
  virtual ~StreamTask() = default;

  // Takes `steps` steps from where the last call ended, over and over the arrays; each worker's `bytes` are the user's:
  // what the operation reads and writes.
  virtual std::span<Worker> run(std::uint64_t steps) = 0;
  // Compares every element, each worker its own; calls wrong_result with the array and the index. Throws
  // ProbeError(failed) if stores could not be made durable.
  virtual void verify() = 0;

  // The choices of the trials: which stores, where that was left open, and how wide the vectors are. Wider ones are not
  // always faster: Zen 4 makes two plain stores of one of 64 bytes.
  virtual Stores stores() const = 0;
  virtual Isa isa() const = 0;
  virtual std::uint64_t bytes_in_pass() const = 0;
  virtual std::uint64_t steps_in_pass() const = 0;
  // All arrays together, and how much of them the kernel backs with huge pages.
  virtual std::size_t total_bytes() const = 0;
  virtual std::int64_t huge_bytes() const = 0;
};

// Allocates and fills. `precision` is fp64 or fp32. Throws ProbeError(skipped) for stores or blocks that cannot be, and
// what `allocate` throws.
std::unique_ptr<StreamTask> make_stream_task(const std::string& precision, const StreamSettings& settings, Team& team);

// Returns the bytes that the memory bus moves for each byte of the user's: a plain store into a line that was not read
// makes the cache read it first.
double bus_bytes_per_byte(StreamOp op, Stores stores);

// Elements of 8 or 4 bytes.
std::size_t element_bytes(const std::string& precision);

}  // namespace nameplate
