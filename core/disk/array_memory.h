// The memory that a stream's arrays lie in: the system's, or a file's through libpmem or memkind.
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

// memory=, path= and persist=.
std::vector<Parameter> array_memory_parameters();

class ArrayMemory {
 public:
  ArrayMemory() = default;
  // Throws ProbeError: failed where there is no such directory, skipped where the parameters do not go together or
  // cannot be on this machine.
  ArrayMemory(const Parameters& parameters, const Machine& machine);

  // Throws ProbeError(skipped) where all the node's arrays together do not fit. `what` is as of require_memory.
  void require_room(std::int64_t bytes, const Machine& machine, const std::string& what) const;
  // Throws ProbeError(skipped) where storing so many elements, one after the other, would take too long.
  void require_time(double elements) const;

  // Sets where a task's arrays lie, and when their stores are made durable.
  void apply(StreamSettings& settings) const;

  // What it really is: the mount, its file system, whether libpmem takes it for persistent. None of the system's
  // memory.
  std::map<std::string, std::string> labels() const;

 private:
  Buffer allocate(std::size_t size_bytes) const;
  double seconds_to_persist() const;

  std::string kind_ = "dram";
  std::optional<MemoryMount> mount_;
  std::optional<Durability> durability_;  // of pmem only
  std::int64_t directories_ = 1;          // that the node's arrays are spread over
  PersistBy persist_by_ = PersistBy::none;
};

}  // namespace nameplate
