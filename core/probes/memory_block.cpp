// What it measures: how fast a program reads, writes or copies memory in blocks of any size, sequentially or at random
// in a region, on any number of threads that share the region equally.
//
// Why that is valid: the region is the same for any block and number of threads, so that experiments are comparable;
// the same loop over precomputed offsets serves both patterns, and if offsets are generated during timing, the
// sequential pattern generates them as well; every thread touches its own part first, and afterwards every block must
// have its old or its new content.
//
// What it does not show: the time of one isolated access (memory_latency): processors work on several blocks
// concurrently. A copied byte counts once here, as in memcpy, while STREAM (memory_stream) counts it twice.

#include "kernels/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/offsets.h"
#include "machine/memory_budget.h"
#include "measure/clock.h"
#include "measure/ends.h"
#include "measure/line_transfer.h"
#include "measure/team.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "workloads/memory_probe.h"

namespace nameplate::memory_block {

namespace {

constexpr std::byte kUntouched{0x5A};
constexpr std::uint64_t kMaxReplayed = 1U << 20U;
constexpr std::uint64_t kMaxBytesInChunk = 64U << 20U;
constexpr std::uint64_t kMaxBytesInTimedChunk = 1U << 20U;  // the clock is read between two chunks
constexpr double kMaxCount = 1e15;

// The content that is read and copied, so that every byte is determined by its position.
std::uint64_t content(std::uint64_t word) { return (word + 1) * 0x9E3779B97F4A7C15U; }

// A call for every byte of a gigabyte would take longer than the measurement.
bool is_same(const std::byte* a, const std::byte* b, std::uint64_t count) {
  return count == 0 || (*a == *b && (count == 1 || std::memcmp(a, b, count) == 0));
}

// One worker's part, on cache lines of its own.
struct alignas(kLine) Part {
  BlockSpan span;
  std::optional<OffsetStream> offsets;
  OffsetStream::Position before;  // the position in the sequence when the current call started
  std::uint64_t first_sum = 0;    // of the current call's first chunk
  std::uint64_t rest_sum = 0;
  std::uint64_t last = 0;        // operations of the current call
  std::uint64_t operations = 0;  // of all calls
};

class MemoryBlock final : public Probe {
 public:
  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    read_parameters(parameters, machine);
    require_memory(size_, machine, fmt::format("size={}", size_));
    team_ = make_thread_team(threads_, machine.topology.allowed);
    memory_ = Buffer(threads_ * part_bytes(), pages_);
    parts_ = std::vector<Part>(threads_);
    team_->run_untimed([this](unsigned worker) { make_part(worker); });
    return describe(parameters, machine);
  }

  Work run(std::uint64_t repetitions) override {
    repetitions_ = repetitions;
    const std::span<Worker> workers = team_->run(work_);
    std::uint64_t ops = 0;
    for (unsigned i = 0; i < workers.size(); ++i) {
      workers[i].ops = parts_[i].last;
      workers[i].bytes = parts_[i].last * block_;
      ops += parts_[i].last;
    }
    return {.bytes = ops * block_, .ops = ops, .workers = workers};
  }

  void verify() override {
    team_->run_untimed([this](unsigned worker) {
      if (op_ == BlockOp::read) {
        verify_read(worker);
      } else {
        verify_written(worker);
      }
    });
  }

 private:
  void read_parameters(const Parameters& parameters, const Machine& machine);
  BlockLoop choose_loop(const std::string& library) const;
  void make_part(unsigned worker);
  double time_of_offset() const;
  Prepared describe(const Parameters& parameters, const Machine& machine) const;
  void work(Part& part) const;

  // Returns the operations of the chunk that follows `done` operations of a call.
  std::size_t count_of_chunk(std::uint64_t done) const {
    return ends_ == Ends::time ? chunk_ : std::min<std::uint64_t>(repetitions_ - done, chunk_);
  }

  void verify_read(unsigned worker) const;
  void verify_written(unsigned worker) const;
  bool is_done(const Part& part, std::uint64_t offset) const;
  bool is_untouched(const Part& part, std::uint64_t offset) const;

  OffsetStream make_offsets(unsigned worker, std::uint64_t blocks) const {
    return {generator_, random_, blocks, block_, worker};
  }

  // Every part, and a copy's target in it, starts on a cache line of its own.
  std::uint64_t part_bytes() const {
    const std::uint64_t rounded = (share_ + kLine - 1) / kLine * kLine;
    return rounded * (op_ == BlockOp::copy ? 2 : 1);
  }

  BlockOp op_ = BlockOp::read;
  bool random_ = false;
  Generator generator_ = Generator::precomputed;
  std::string library_;
  std::int64_t size_ = 0;
  std::uint64_t block_ = 0;
  std::uint64_t share_ = 0;  // bytes of the region per worker
  std::size_t chunk_ = 0;    // operations between two requests for offsets
  unsigned threads_ = 0;
  Pages pages_ = Pages::huge;
  Ends ends_ = Ends::work;
  BlockLoop loop_ = nullptr;
  std::unique_ptr<Team> team_;
  Buffer memory_;
  std::vector<Part> parts_;
  std::uint64_t repetitions_ = 0;
  Team::Function work_ = [this](unsigned worker) { work(parts_[worker]); };
};

void MemoryBlock::read_parameters(const Parameters& parameters, const Machine& machine) {
  op_ = parse_block_op(parameters.word("op"));
  random_ = parameters.word("pattern") == "random";
  generator_ = parse_generator(parameters.word("generator"));
  pages_ = parse_pages(parameters.word("pages"));
  size_ = parameters.count("size");
  block_ = static_cast<std::uint64_t>(parameters.count("block"));
  threads_ = static_cast<unsigned>(parameters.count_if_given("threads").value_or(machine.default_threads()));
  library_ = parameters.word_if_given("library").value_or(op_ == BlockOp::read ? "inline" : "libc");
  // A copy's share contains its source and its target, so that the region is the same for every operation.
  share_ = static_cast<std::uint64_t>(size_) / threads_ / (op_ == BlockOp::copy ? 2 : 1);
  if (block_ > share_) {
    refuse(fmt::format("block={} is larger than a thread's {}, {} bytes: size={} for {} threads", block_,
                       op_ == BlockOp::copy ? "half of its part" : "part", share_, size_, threads_));
  }
  ends_ = parse_ends(parameters.word("ends"));
  if (ends_ == Ends::time && parameters.has("count")) refuse("ends=time count: a worker that ends by time counts none");
  const std::uint64_t most = ends_ == Ends::time ? kMaxBytesInTimedChunk : kMaxBytesInChunk;
  chunk_ = std::clamp<std::size_t>(most / block_, 1, kOffsetChunk);
  loop_ = choose_loop(library_);
}

BlockLoop MemoryBlock::choose_loop(const std::string& library) const {
  if (library == "inline") {
    return inline_block_loop(widest_vector_isa(), op_, block_);
  }
  BlockLoop loop = libc_block_loop(op_);
  if (loop == nullptr)
    refuse(
        "library=libc op=read: the C library has no function that only reads; use "
        "library=inline");
  return loop;
}

void MemoryBlock::make_part(unsigned worker) {
  Part& part = parts_[worker];
  const std::uint64_t blocks = share_ / block_;
  std::byte* const data = memory_.data() + worker * part_bytes();
  part.span = {.source = data, .span_bytes = blocks * block_, .block_bytes = block_};
  if (op_ != BlockOp::read) part.span.target = op_ == BlockOp::copy ? data + part_bytes() / 2 : data;
  part.offsets.emplace(make_offsets(worker, blocks));
  if (op_ != BlockOp::write) {
    for (std::uint64_t at = 0; at < part.span.span_bytes; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = content(at / sizeof(std::uint64_t));
      std::memcpy(data + at, &word, std::min<std::uint64_t>(sizeof(word), part.span.span_bytes - at));
    }
  }
  if (op_ != BlockOp::read) std::memset(part.span.target, std::to_integer<int>(kUntouched), part.span.span_bytes);
}

// Measured separately, so that readers can subtract it; nothing if the offsets were generated before.
double MemoryBlock::time_of_offset() const {
  if (generator_ == Generator::precomputed) return 0;
  constexpr unsigned kChunks = 256;
  OffsetStream offsets = make_offsets(0, share_ / block_);
  const Ticks start = Clock::now();
  for (unsigned i = 0; i < kChunks; ++i) offsets.next(kOffsetChunk);
  return Clock::get().seconds(Clock::now() - start) / (kChunks * kOffsetChunk);
}

Prepared MemoryBlock::describe(const Parameters& parameters, const Machine& machine) const {
  Prepared prepared{.resolved = parameters, .facts = memory_fact_values(size_, memory_.huge_bytes(), machine)};
  prepared.facts["offset_s"] = time_of_offset();
  prepared.facts["line_round_trip_s"] = farthest_round_trip_s(*team_);
  prepared.resolved.set("threads", static_cast<std::int64_t>(threads_));
  prepared.resolved.set("library", library_);
  if (const auto count = parameters.count_if_given("count")) {
    prepared.repetitions = static_cast<std::uint64_t>(*count);
  }
  return prepared;
}

void MemoryBlock::work(Part& part) const {
  part.before = part.offsets->position();
  const Ticks end = end_of(repetitions_);
  std::uint64_t done = 0;
  const auto some = [&] {
    const std::size_t count = count_of_chunk(done);
    const OffsetStream::Chunk chunk = part.offsets->next(count);
    done += count;
    return loop_(part.span, chunk.offsets, count, chunk.base);
  };
  part.first_sum = some();
  std::uint64_t sum = 0;
  while (ends_ == Ends::time ? Clock::now() < end : done < repetitions_) sum += some();
  part.rest_sum = sum;
  part.last = done;
  part.operations += done;
}

void MemoryBlock::verify_read(unsigned worker) const {
  const Part& part = parts_[worker];
  for (std::uint64_t at = 0; at + sizeof(std::uint64_t) <= part.span.span_bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, part.span.source + at, sizeof(word));
    const std::uint64_t expected = content(at / sizeof(std::uint64_t));
    if (word != expected) {
      wrong_result(
          fmt::format("worker {}: the word at {} is {:#x}, but {:#x} was written", worker, at, word, expected));
    }
  }
  if (generator_ == Generator::rand) return;  // its sequence cannot be repeated
  OffsetStream offsets = *part.offsets;
  offsets.go_back(part.before);
  const std::size_t count = std::min<std::uint64_t>(part.last, chunk_);
  const OffsetStream::Chunk chunk = offsets.next(count);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < count; ++i) {
    expected += block_sum(part.span.source + (chunk.offsets[i] + chunk.base) % part.span.span_bytes, block_);
  }
  if (part.first_sum != expected) {
    wrong_result(fmt::format("worker {}: the first {} blocks add up to {:#x}, but should add up to {:#x}", worker,
                             count, part.first_sum, expected));
  }
}

bool MemoryBlock::is_done(const Part& part, std::uint64_t offset) const {
  const std::byte* const block = part.span.target + offset;
  if (op_ == BlockOp::copy) return is_same(block, part.span.source + offset, block_);
  return *block == std::byte{kBlockByte} && is_same(block, block + 1, block_ - 1);
}

bool MemoryBlock::is_untouched(const Part& part, std::uint64_t offset) const {
  const std::byte* const block = part.span.target + offset;
  return *block == kUntouched && is_same(block, block + 1, block_ - 1);
}

void MemoryBlock::verify_written(unsigned worker) const {
  const Part& part = parts_[worker];
  const std::uint64_t blocks = part.span.span_bytes / block_;
  // In a sequential pattern the last block that the worker reached is known.
  const std::uint64_t certain = random_ ? 0 : std::min(part.operations, blocks);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t offset = i * block_;
    if (is_done(part, offset) || (i >= certain && is_untouched(part, offset))) continue;
    wrong_result(fmt::format("worker {}: block {} of {} has neither its old nor its new content", worker, i, blocks));
  }
  if (generator_ == Generator::rand) return;
  OffsetStream offsets = *part.offsets;
  offsets.go_back(part.before);
  std::uint64_t left = std::min(part.last, kMaxReplayed);
  while (left > 0) {
    const std::size_t count = std::min<std::uint64_t>(left, chunk_);
    const OffsetStream::Chunk chunk = offsets.next(count);
    left -= count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t offset = (chunk.offsets[i] + chunk.base) % part.span.span_bytes;
      if (!is_done(part, offset)) {
        wrong_result(fmt::format("worker {}: block {} of {} was not written", worker, offset / block_, blocks));
      }
    }
  }
}

ProbeInfo info() {
  std::vector<Fact> facts = memory_facts();
  facts.push_back(line_fact());
  facts.push_back({"offset_s", "s", "time to generate one offset, included in every operation; 0 if precomputed"});
  Parameter count = integer("count", "operations of each thread per sample", 1, kMaxCount, "");
  count.default_value = std::nullopt;
  count.automatic = "as many as fill a sample's time";
  return {
      .name = "memory_block",
      .summary = "bandwidth and time of reading, writing and copying memory by blocks",
      .parameters = {choice("op", "read, write (memset), copy (memcpy; a byte counts once)", block_op_names(), "copy"),
                     choice("pattern", "order of the blocks", {"sequential", "random"}, "sequential"),
                     size("block", "block size of one operation", 1, kLargestRegion, "8KiB"), threads_parameter(),
                     size("size",
                          "size of the region that all threads share equally, including source and target "
                          "of a copy",
                          1, kLargestRegion, "1.28GB"),
                     automatic_choice("library",
                                      "inline: a loop without calls; libc: the C library's memset and "
                                      "memcpy",
                                      {"inline", "libc"}, "inline for read, libc for write and copy"),
                     choice("generator", "generator of offsets", generator_names(), "precomputed"), count,
                     pages_parameter(), ends_parameter()},
      .counters = {},
      .facts = std::move(facts),
      .needs = {},
      .reports_workers = true};
}

const Registration<MemoryBlock> kRegistration(info);

}  // namespace

}  // namespace nameplate::memory_block
