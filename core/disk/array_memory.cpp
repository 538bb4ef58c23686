#include "disk/array_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "disk/test_file.h"
#include "machine/memkind.h"
#include "machine/memory_budget.h"
#include "measure/clock.h"
#include "probe/error.h"

namespace nameplate {

namespace {

// Persistent memory takes seconds; an ordinary disk would take hours.
constexpr double kLongestSample_s = 30;
constexpr std::size_t kTrials = 32;

PersistBy parse_persist(const std::string& name) {
  if (name == "element") return PersistBy::element;
  return name == "array" ? PersistBy::array : PersistBy::none;
}

void check_together(const Parameters& parameters) {
  const std::string& memory = parameters.word("memory");
  const std::string& persist = parameters.word("persist");
  if (memory == "dram" && parameters.has("path")) refuse("path= needs memory=pmem or memory=memkind");
  if (memory != "dram" && !parameters.has("path")) {
    refuse(fmt::format("memory={} needs path=, a directory on the mount of persistent memory", memory));
  }
  if (memory != "pmem" && persist != "none") refuse(fmt::format("persist={} needs memory=pmem", persist));
  if (parameters.word("op") == "read" && persist != "none") {
    refuse(fmt::format("persist={}: op=read stores nothing", persist));
  }
}

}  // namespace

std::vector<Parameter> array_memory_parameters() {
  return {choice("memory",
                 "dram: ordinary memory; pmem: a file mapped by libpmem; memkind: a file with memkind's "
                 "allocator",
                 {"dram", "pmem", "memkind"}, "dram"),
          automatic_text("path",
                         "directory on a mount for pmem or memkind, or a colon-separated list with one per NUMA node, "
                         "of which each rank takes the nearest",
                         "must be given"),
          choice("persist",
                 "when to make pmem stores durable: never, after each element, or after each pass over a thread's part "
                 "of the array",
                 {"none", "element", "array"}, "none")};
}

ArrayMemory::ArrayMemory(const Parameters& parameters, const Machine& machine)
    : kind_(parameters.word("memory")), persist_by_(parse_persist(parameters.word("persist"))) {
  check_together(parameters);
  if (kind_ == "dram") return;
  const auto directories = directories_in(parameters.word("path"));
  directories_ = static_cast<std::int64_t>(directories.size());
  mount_ = mount_at(machine.root, nearest_directory(machine.root, machine.topology, directories));
  if (kind_ == "pmem") durability_ = durability_in(mount_->directory);
}

void ArrayMemory::require_room(std::int64_t bytes, const Machine& machine, const std::string& consumer) const {
  if (!mount_ || mount_->kind == MountKind::memory) require_memory(bytes, machine, consumer);
  if (mount_ && mount_->kind == MountKind::file) nameplate::require_room(mount_->directory, bytes / directories_);
}

void ArrayMemory::require_time(double elements) const {
  if (persist_by_ != PersistBy::element) return;
  const double sample_s = elements * seconds_to_persist();
  if (sample_s <= kLongestSample_s) return;
  refuse(
      fmt::format("persist=element would take {:.0f} s for a sample on {}, and may take {:.0f} s; choose a smaller "
                  "size or fewer repeats",
                  sample_s, mount_->directory, kLongestSample_s));
}

void ArrayMemory::apply(StreamSettings& settings) const {
  if (!mount_) return;
  settings.allocate = [this](std::size_t size_bytes) { return allocate(size_bytes); };
  settings.persist_by = persist_by_;
  if (durability_) settings.persist = persist_function(*durability_);
}

std::map<std::string, std::string> ArrayMemory::labels() const {
  if (!mount_) return {};
  std::map<std::string, std::string> labels = {
      {"path", mount_->directory}, {"filesystem", mount_->file_system}, {"mount", to_string(mount_->kind)}};
  if (durability_) labels["durability"] = to_string(*durability_);
  return labels;
}

Buffer ArrayMemory::allocate(std::size_t size_bytes) const {
  return kind_ == "pmem" ? map_pmem(mount_->directory, size_bytes) : allocate_memkind(mount_->directory, size_bytes);
}

// The minimum of several trials.
double ArrayMemory::seconds_to_persist() const {
  const Buffer buffer = allocate(kTrials * sizeof(double));
  const PersistFunction persist = persist_function(*durability_);
  Ticks least = std::numeric_limits<Ticks>::max();
  for (double& element : buffer.as<double>()) {
    const Ticks start = Clock::now();
    element = 1;
    persist(&element, sizeof element);
    least = std::min(least, Clock::now() - start);
  }
  return Clock::get().seconds(least);
}

}  // namespace nameplate
