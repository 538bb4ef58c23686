// What it measures: how fast a program reads and writes a file block by block, with a given I/O library, order and
// state of the page cache: bandwidth, operations, and the time of single operations.
//
// Why that is valid: the file is its own, of random content that is on the device before anything is timed. What the
// page cache holds, what this process fetched and what the device moved is read before and after every sample, which
// shows where the bytes came from. Blocks read are compared with the file's content; blocks written are read back.
//
// What it does not show: in a guest, whether the device or the host's cache answered; a device's own cache; metadata
// operations (creating, renaming and removing files).

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "disk/content.h"
#include "disk/file_system.h"
#include "disk/io.h"
#include "disk/page_cache.h"
#include "disk/retained_files.h"
#include "disk/test_file.h"
#include "machine/machine.h"
#include "machine/memory_budget.h"
#include "machine/page_size.h"
#include "measure/clock.h"
#include "measure/ends.h"
#include "measure/team.h"
#include "probe/error.h"
#include "probe/registry.h"

namespace nameplate::disk_block {

namespace {

constexpr double kLargestFile = 0x1p50;
constexpr double kMaxDepth = 4096;
constexpr double kMaxRate = 1e9;
constexpr double kMaxPasses = 1e6;
// For smaller blocks, reading the clock is a noticeable part of an operation's time, so that only some are timed.
constexpr std::uint64_t kMinAllTimed_bytes = 4096;
constexpr unsigned kTimedOneIn = 64;

enum class Cache { warm, cold, as_is, direct };

// A file or device, each once, however many workers share it.
struct Target {
  int descriptor;
  std::int64_t bytes;
};

// The state of one worker, on cache lines of its own.
struct alignas(64) Part {
  const TestFile* file = nullptr;  // null: a block device that is only read
  Descriptor descriptor;
  std::unique_ptr<IoWorker> io;
};

class DiskBlock final : public Probe {
 public:
  explicit DiskBlock(Context& context) : context_(context) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    read_parameters(parameters, machine);
    find_files(parameters, machine);
    check_alignment();
    // A device interrupts a certain CPU, and near that one more operations per second are possible (docs/measurements).
    const Binding binding = settings_.direct ? Binding::none : Binding::dedicated_cpu;
    team_ = make_thread_team(threads_, machine.topology.allowed, binding);
    parts_ = std::vector<Part>(threads_);
    make_ready();
    team_->run_untimed([this](unsigned worker) { make_part(worker); });
    return describe(parameters, machine);
  }

  void prepare() override;
  Work run(std::uint64_t repetitions) override;

  void verify() override {
    if (is_device_) {
      verify_device();
      return;
    }
    team_->run_untimed([this](unsigned worker) {
      const Part& part = parts_[worker];
      part.io->verify(part.file->descriptor(), part.file->name());
    });
  }

  // A ring belongs to the thread that created it.
  void teardown() override {
    if (team_) team_->run_untimed([this](unsigned worker) { parts_[worker].io.reset(); });
  }

 private:
  void read_parameters(const Parameters& parameters, const Machine& machine);
  void check_combination(const Parameters& parameters) const;
  void find_files(const Parameters& parameters, const Machine& machine);
  const TestFile& obtain_file(const FileLocation& location, std::int64_t bytes, unsigned index,
                              const Machine& machine) const;
  void require_space(std::int64_t bytes, const Machine& machine) const;
  std::string content_name() const;
  void check_alignment() const;
  void make_ready() const;
  void make_part(unsigned worker);
  void verify_device() const;
  void check_errors() const;
  std::int64_t resident() const;
  Prepared describe(const Parameters& parameters, const Machine& machine) const;

  bool writes() const { return settings_.op != IoOp::read; }
  // Returns whether the file keeps its original content.
  bool keeps_content() const { return settings_.op == IoOp::read || settings_.op == IoOp::readwrite; }
  bool is_shared() const { return files_.size() <= 1; }
  bool empties() const { return first_ && settings_.op == IoOp::write; }
  bool evicts() const { return cache_ == Cache::cold || (cache_ == Cache::warm && first_ && !empties()); }
  std::vector<Target> targets() const;

  Context& context_;
  IoSettings settings_;
  const IoLibrary* library_ = nullptr;
  Ends ends_ = Ends::work;
  Cache cache_ = Cache::warm;
  bool first_ = false;
  bool is_device_ = false;
  unsigned threads_ = 0;
  std::int64_t size_ = 0;
  std::uint64_t share_ = 0;  // bytes of each worker
  std::string path_;         // absolute: of the device, or of the files' directory
  FileSystem system_;
  std::optional<Root> root_;
  std::vector<const TestFile*> files_;
  Descriptor device_;
  std::unique_ptr<Team> team_;
  std::vector<Part> parts_;
  std::uint64_t repetitions_ = 0;
  Histogram histogram_;
  Histogram read_histogram_;
  Histogram write_histogram_;
  std::vector<double> counters_;
  Team::Function run_ = [this](unsigned worker) {
    IoWorker& io = *parts_[worker].io;
    if (ends_ == Ends::time) {
      io.run_until(end_of(repetitions_));
    } else {
      io.run(repetitions_);
    }
  };
};

IoOp parse_op(const std::string& word) {
  if (word == "read") return IoOp::read;
  return word == "write" ? IoOp::write : IoOp::readwrite;
}

Cache parse_cache(const std::string& word) {
  if (word == "warm") return Cache::warm;
  if (word == "cold") return Cache::cold;
  return word == "as-is" ? Cache::as_is : Cache::direct;
}

void DiskBlock::read_parameters(const Parameters& parameters, const Machine& machine) {
  const auto [op, percent] = split_percent(parameters.word("op"));
  settings_.op = percent ? IoOp::mixed : parse_op(op);
  settings_.reads_percent = static_cast<unsigned>(percent.value_or(0));
  settings_.pattern = parse_pattern(parameters.word("pattern"));
  settings_.block_bytes = static_cast<std::uint64_t>(parameters.count("block"));
  settings_.depth = static_cast<unsigned>(parameters.count("depth"));
  library_ = &find_io_library(parameters.word("library"));
  const std::string& cache = parameters.word("cache");
  cache_ = parse_cache(cache);
  settings_.direct = cache_ == Cache::direct;
  const std::string& sync = parameters.word("sync");
  settings_.sync = sync == "none" ? IoSync::none : sync == "end" ? IoSync::end : IoSync::every_write;
  const bool reads_cold = cache_ == Cache::cold && settings_.op == IoOp::read;
  first_ = parameters.word_if_given("pass").value_or(reads_cold ? "first" : "again") == "first";
  threads_ = static_cast<unsigned>(parameters.count_if_given("threads").value_or(machine.default_threads()));
  ends_ = parse_ends(parameters.word("ends"));
  const auto rate = static_cast<double>(parameters.count_if_given("rate").value_or(0));
  settings_.interval_s = rate > 0 ? threads_ / rate : 0;
  settings_.timed_every = settings_.block_bytes < kMinAllTimed_bytes && !settings_.direct ? kTimedOneIn : 1;
  size_ = parameters.count("size");
  is_device_ = parameters.has("read_device");
  check_combination(parameters);
  require_memory(
      static_cast<std::int64_t>(threads_ * io_worker_bytes(settings_)), machine,
      fmt::format("buffers for block={} depth={} on {} threads", settings_.block_bytes, settings_.depth, threads_));
}

void DiskBlock::check_combination(const Parameters& parameters) const {
  if (settings_.depth > 1 && !library_->has_queue) {
    refuse(fmt::format("depth={} library={}: it does one operation at a time; use uring or libaio", settings_.depth,
                       library_->name));
  }
  if (settings_.direct && !library_->why_not_direct.empty()) {
    refuse(fmt::format("cache=direct library={}: {}", library_->name, library_->why_not_direct));
  }
  if (settings_.sync != IoSync::none && !writes()) refuse("sync: op=read writes nothing");
  if (cache_ == Cache::cold && settings_.op == IoOp::read && !first_) {
    refuse("cache=cold pass=again: data read before are in the cache; use pass=first");
  }
  if (first_ && settings_.op == IoOp::mixed) refuse("pass=first op=readwrite: a new file has nothing to read");
  if (first_ && parameters.count_if_given("passes").value_or(1) > 1) {
    refuse("pass=first passes: a second pass over the file is not the first one");
  }
  if (evicts() && parameters.count_if_given("passes").value_or(1) > 1) {
    refuse("cache=cold passes: a second pass finds in the cache what the first one brought there");
  }
  if (ends_ == Ends::time) {
    if (settings_.op == IoOp::mixed) refuse("ends=time op=readwrite: mixed operations end by work only");
    if (library_->has_queue) refuse(fmt::format("ends=time library={}: a queue ends by work only", library_->name));
    if (first_) refuse("ends=time pass=first: a first pass ends with the file");
    if (parameters.has("passes") || parameters.has("rate")) refuse("ends=time with passes or rate: these set the work");
  }
  if (is_device_ && writes()) refuse("read_device: a device is never written to; use op=read");
}

// The files' content by name: the changes of one experiment must not be the expectation of another.
std::string DiskBlock::content_name() const {
  if (keeps_content()) return "original";
  return settings_.op == IoOp::mixed && settings_.block_bytes % kStampEvery == 0 ? "stamped" : "any";
}

const TestFile& DiskBlock::obtain_file(const FileLocation& location, std::int64_t bytes, unsigned index,
                                       const Machine& machine) const {
  const std::string key =
      fmt::format("{} {} {} {} {}", content_name(), bytes, index, location.directory, location.name);
  return context_.retained_files.obtain(key, location, bytes, [&] {
    require_space(bytes, machine);
    return std::make_unique<TestFile>(location, bytes, empties() ? TestFile::Fill::none : TestFile::Fill::original,
                                      [this] { return !context_.stop_requested; });
  });
}

void DiskBlock::find_files(const Parameters& parameters, const Machine& machine) {
  root_ = machine.root;
  if (is_device_) {
    path_ = parameters.word("read_device");
    struct stat status {};
    if (stat(path_.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) {
      fail(fmt::format("read_device={}: not a block device", path_));
    }
    device_ = Descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!device_.is_open()) fail(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
    const off_t end = lseek(device_.number(), 0, SEEK_END);
    size_ = std::min<std::int64_t>(size_, end);
    system_ = block_device_of(*root_, path_);
  }
  const bool alone = parameters.word("layout") == "file-per-thread" && !is_device_;
  share_ = static_cast<std::uint64_t>(size_) / threads_;
  // The parts of a mapped file begin at pages.
  if (share_ >= page_bytes()) share_ = share_ / page_bytes() * page_bytes();
  if (settings_.block_bytes > share_) {
    refuse(fmt::format("block={} is larger than a thread's part of the file, {} bytes: size={} for {} threads",
                       settings_.block_bytes, share_, size_, threads_));
  }
  if (is_device_) return;
  const FileLocation location = locate_file(parameters.word_if_given("file").value_or("."));
  path_ = location.directory;
  system_ = file_system_of(*root_, path_);
  const auto file_bytes = static_cast<std::int64_t>(alone ? share_ : share_ * threads_);
  for (unsigned i = 0; i < (alone ? threads_ : 1); ++i) {
    files_.push_back(&obtain_file(location, file_bytes, i, machine));
  }
  std::int64_t missing_bytes = 0;
  for (const TestFile* file : files_) missing_bytes += std::max<std::int64_t>(0, file_bytes - file->allocated_bytes());
  require_space(missing_bytes, machine);
}

// A file in memory takes memory that others need, and on a shared file system the files of all nodes must fit.
void DiskBlock::require_space(std::int64_t bytes, const Machine& machine) const {
  if (system_.is_memory) require_memory(bytes, machine, fmt::format("files of size={} on {}", size_, system_.type));
  if (system_.is_shared) require_room(path_, bytes * machine.nodes_at_once);
}

std::vector<Target> DiskBlock::targets() const {
  if (is_device_) return {{device_.number(), size_}};
  std::vector<Target> result;
  for (const TestFile* file : files_) result.push_back({file->descriptor(), file->bytes()});
  return result;
}

void DiskBlock::check_alignment() const {
  if (!settings_.direct) return;
  const auto alignment = direct_alignment(targets().front().descriptor);
  if (!alignment) refuse(fmt::format("cache=direct: {} has no O_DIRECT", system_.type));
  if (settings_.block_bytes % *alignment != 0) {
    refuse(fmt::format("block={} cache=direct: O_DIRECT requires multiples of {} bytes here", settings_.block_bytes,
                       *alignment));
  }
}

void DiskBlock::make_ready() const {
  for (const TestFile* file : files_) {
    if (empties()) {
      file->empty(true);
    } else {
      file->complete([this] { return !context_.stop_requested; });
    }
  }
  for (const Target& target : targets()) {
    if (cache_ == Cache::warm) {
      warm(target.descriptor, target.bytes);
    } else if (cache_ != Cache::as_is) {
      evict(target.descriptor);
    }
  }
}

void DiskBlock::make_part(unsigned worker) {
  Part& part = parts_[worker];
  const int flags = (writes() ? O_RDWR : O_RDONLY) | (settings_.direct ? O_DIRECT : 0);
  if (is_device_) {
    part.descriptor = Descriptor(open(path_.c_str(), flags | O_CLOEXEC));
    if (!part.descriptor.is_open()) fail(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
  } else {
    part.file = files_[is_shared() ? 0 : worker];
    part.descriptor = part.file->open(flags);
  }
  part.io = library_->make(settings_, {.descriptor = part.descriptor.number(),
                                       .offset = is_shared() || is_device_ ? worker * share_ : 0,
                                       .blocks = share_ / settings_.block_bytes,
                                       .seed = worker + 1,
                                       .delay_s = settings_.interval_s * worker / threads_,
                                       .content_seed = part.file == nullptr ? 0 : part.file->content_seed()});
}

void DiskBlock::prepare() {
  for (Part& part : parts_) {
    if (first_ || evicts()) part.io->start_pass();
    if (empties() || evicts()) part.io->forget();
  }
  for (const TestFile* file : files_) {
    if (empties()) file->empty(library_->maps_file);
  }
  for (const Target& target : targets()) {
    if (evicts()) {
      evict(target.descriptor);
      if (cache_ == Cache::warm) warm(target.descriptor, target.bytes);
    } else if (writes() && !settings_.direct) {
      write_out(target.descriptor);  // writes of earlier samples must not slow this one down
    }
  }
}

std::int64_t DiskBlock::resident() const {
  std::int64_t total = 0;
  for (const Target& target : targets()) {
    const auto bytes = resident_bytes(target.descriptor, target.bytes);
    if (!bytes) return -1;
    total += *bytes;
  }
  return total;
}

Work DiskBlock::run(std::uint64_t repetitions) {
  repetitions_ = repetitions;
  const auto resident_before = static_cast<double>(resident());
  const StorageTraffic before = read_traffic(*root_, system_);
  const std::span<Worker> workers = team_->run(run_);
  check_errors();
  const StorageTraffic after = read_traffic(*root_, system_);
  const bool is_mixed = settings_.op == IoOp::mixed;
  histogram_.clear();
  if (is_mixed) {
    read_histogram_.clear();
    write_histogram_.clear();
  }
  std::uint64_t ops = 0;
  for (unsigned i = 0; i < workers.size(); ++i) {
    histogram_.merge(parts_[i].io->histogram());
    if (is_mixed) {
      read_histogram_.merge(parts_[i].io->read_histogram());
      write_histogram_.merge(parts_[i].io->write_histogram());
    }
    workers[i].ops = parts_[i].io->done();
    workers[i].bytes = workers[i].ops * settings_.block_bytes;
    ops += workers[i].ops;
  }
  const auto moved = [](double from, double to) { return from < 0 || to < 0 ? -1 : to - from; };
  counters_ = {resident_before,
               static_cast<double>(resident()),
               moved(before.process_read_bytes, after.process_read_bytes),
               moved(before.process_write_bytes, after.process_write_bytes),
               moved(before.device_read_bytes, after.device_read_bytes),
               moved(before.device_write_bytes, after.device_write_bytes)};
  return {.bytes = ops * settings_.block_bytes,
          .ops = ops,
          .workers = workers,
          .counters = counters_,
          .histogram = &histogram_,
          .read_histogram = is_mixed ? &read_histogram_ : nullptr,
          .write_histogram = is_mixed ? &write_histogram_ : nullptr};
}

void DiskBlock::check_errors() const {
  for (const Part& part : parts_) {
    const auto& error = part.io->error();
    if (!error) continue;
    fail(fmt::format("{}: {} at {}: {}", part.file == nullptr ? path_ : part.file->name(), error->operation,
                     error->offset, error->number == 0 ? "fewer bytes than requested" : std::strerror(error->number)));
  }
}

// Unknown content can only be checked by reading it twice.
void DiskBlock::verify_device() const {
  for (const Part& part : parts_) part.io->verify_unknown(device_.number(), path_);
}

Prepared DiskBlock::describe(const Parameters& parameters, const Machine& machine) const {
  Prepared prepared{.resolved = parameters};
  prepared.resolved.set("threads", static_cast<std::int64_t>(threads_));
  prepared.resolved.set("pass", std::string(first_ ? "first" : "again"));
  if (!is_device_) prepared.resolved.set("file", path_);
  const auto link = link_of(*root_, system_);
  const auto extents = files_.empty() ? std::nullopt : read_extents(files_.front()->descriptor());
  const auto alignment = direct_alignment(targets().front().descriptor);
  prepared.facts = {{"file_bytes", static_cast<double>(size_)},
                    {"memory_bytes", static_cast<double>(machine.memory.total_bytes)},
                    {"clock_cost_s", Clock::get().info().cost_s},
                    {"timed_every", static_cast<double>(settings_.timed_every)},
                    {"registered_buffers", parts_.front().io->has_registered_buffers() ? 1.0 : 0.0},
                    {"link_bytes_per_s", link ? link->bytes_per_s : 0},
                    {"direct_alignment_bytes", alignment ? static_cast<double>(*alignment) : 0},
                    {"extents", extents ? static_cast<double>(extents->count) : -1},
                    {"unwritten_bytes", extents ? static_cast<double>(extents->unwritten_bytes) : -1},
                    {"is_memory", system_.is_memory ? 1.0 : 0.0}};
  prepared.labels = {{"filesystem", system_.type}, {"device", system_.device}, {"link", link ? link->name : ""}};
  const std::uint64_t blocks = share_ / settings_.block_bytes;
  if (const auto passes = parameters.count_if_given("passes")) {
    prepared.repetitions = static_cast<std::uint64_t>(*passes) * blocks;
  }
  if (empties() || evicts()) prepared.max_repetitions = blocks;
  return prepared;
}

ProbeInfo info() {
  Parameter op = choice("op",
                        "readwrite reads a block and writes it back; readwrite:70 reads in 70 % of the operations "
                        "and writes in the others",
                        {"read", "write", "readwrite"}, "read");
  op.percent_of = "readwrite";
  return {
      .name = "disk_block",
      .summary = "bandwidth, operation rate and latency of reading and writing a file by blocks",
      .parameters =
          {op,
           choice("pattern", "order of the blocks: stride takes every 17th, record repeats one block", pattern_names(),
                  "sequential"),
           automatic_choice("pass",
                            "first: each sample writes into a truncated file, or reads one that was just brought "
                            "into the cache; again: the file is used as it is",
                            {"first", "again"}, "first if cache=cold and op=read, else again"),
           size("block", "block size of one operation", 1, kLargestFile, "4KiB"), threads_parameter(),
           choice("library", "I/O library, the way in which a program requests a block", io_library_names(), "pread"),
           integer("depth", "operations that each thread keeps in flight (uring, libaio)", 1, kMaxDepth, "1"),
           choice("cache",
                  "page cache before a sample: warm: all of the file, cold: nothing, as-is: what earlier work left; "
                  "direct bypasses it (O_DIRECT)",
                  {"warm", "cold", "as-is", "direct"}, "warm"),
           choice("sync", "end: one fdatasync at the end of each sample, in its time; each: after every write",
                  {"none", "end", "each"}, "none"),
           choice("layout", "shared: each thread has an equal part of one file; file-per-thread: its own file",
                  {"shared", "file-per-thread"}, "shared"),
           size("size", "size of all files together", 1, kLargestFile, "300MB"),
           automatic_text("file", "directory to measure in, or a new file there; existing files are not touched",
                          "the current directory"),
           automatic_text("read_device", "block device to read, and never to write, instead of a file (--read-device)",
                          "none"),
           automatic_integer("rate",
                             "operations per second of all threads, started at planned times regardless of earlier "
                             "operations",
                             1, kMaxRate, "as fast as possible"),
           automatic_integer("passes", "passes over each thread's part per sample", 1, kMaxPasses,
                             "as many as fill a sample's time"),
           ends_parameter()},
      .counters = {{"resident_before_bytes", "B",
                    "bytes of the file in the page cache before the sample, in a series "
                    "before its last call; -1: not known",
                    Combine::last},
                   {"resident_after_bytes", "B", "bytes of the file in the page cache after the sample", Combine::last},
                   {"process_read_bytes", "B",
                    "bytes that this process fetched from storage (/proc/self/io); -1: "
                    "not known"},
                   {"process_write_bytes", "B",
                    "bytes that this process wrote to storage or made dirty in the page "
                    "cache"},
                   {"device_read_bytes", "B", "bytes that the whole block device read; -1: not known"},
                   {"device_write_bytes", "B", "bytes that the whole block device wrote"}},
      .facts = {{"file_bytes", "B", "size of all files together"},
                {"memory_bytes", "B", "memory of the machine: a smaller file can be in the page cache as a whole"},
                {"clock_cost_s", "s", "time of reading the clock, included in every timed operation"},
                {"timed_every", "", "one in this many operations is timed"},
                {"registered_buffers", "", "1 if uring's buffers are registered with the kernel"},
                {"link_bytes_per_s", "B/s", "bandwidth of the device's link; 0: not known"},
                {"direct_alignment_bytes", "B", "alignment that O_DIRECT requires; 0: there is no O_DIRECT"},
                {"extents", "", "extents of the first file; -1: not known"},
                {"unwritten_bytes", "B", "bytes in extents that were never written and read as zeros; -1: not known"},
                {"is_memory", "", "1 if the file is in memory"}},
      .needs = {},
      .reports_workers = true};
}

const Registration<DiskBlock> kRegistration(info);

}  // namespace

}  // namespace nameplate::disk_block
