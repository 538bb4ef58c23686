// The memory of a stream's arrays: ordinary memory, or a file mapped by libpmem or memkind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "disk/memory_mount.h"
#include "machine/machine.h"
#include "probe/parameter.h"
#include "workloads/stream_task.h"

namespace nameplate {

// The parameters memory=, path= and persist=.
std::vector<Parameter> array_memory_parameters();

class ArrayMemory {
 public:
  ArrayMemory() = default;
  // Throws ProbeError: failed if a directory does not exist, skipped if the parameters do not go together or are not
  // possible on this machine.
  ArrayMemory(const Parameters& parameters, const Machine& machine);

  // Throws ProbeError(skipped) if the arrays of all ranks of the node do not fit. `consumer` is as in require_memory.
  void require_room(std::int64_t bytes, const Machine& machine, const std::string& consumer) const;
  // Throws ProbeError(skipped) if storing `elements`, one after the other, would take too long.
  void require_time(double elements) const;

  // Sets where a task's arrays are allocated, and when their stores are made durable.
  void apply(StreamSettings& settings) const;

  // Returns what the memory really is: the mount, its file system, whether libpmem considers it persistent. Empty for
  // ordinary memory.
  std::map<std::string, std::string> labels() const;

 private:
  Buffer allocate(std::size_t size_bytes) const;
  double seconds_to_persist() const;

  std::string kind_ = "dram";
  std::optional<MemoryMount> mount_;
  std::optional<Durability> durability_;  // for pmem only
  std::int64_t directories_ = 1;          // over which the node's arrays are spread
  PersistBy persist_by_ = PersistBy::none;
};

}  // namespace nameplate
