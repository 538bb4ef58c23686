// Memory in a file on persistent memory, through libpmem (pmem.io), and how stores to it become durable.
#pragma once

#include <cstddef>
#include <string>

#include "machine/buffer.h"

namespace nameplate {

// Maps an unnamed, fully allocated file in this directory. Throws ProbeError: skipped if libpmem is missing or the
// mount is full, failed otherwise.
Buffer map_pmem(const std::string& directory, std::size_t size_bytes);

enum class Durability {
  persistent,  // flushing the caches is enough according to libpmem: the mapping has MAP_SYNC
  forced,      // PMEM_IS_PMEM_FORCE=1 in the environment claims that for any memory
  none,        // only msync(2) makes stores durable
};
std::string to_string(Durability durability);

// Returns the durability of memory from map_pmem in this directory, by mapping a page. Throws like map_pmem.
Durability durability_in(const std::string& directory);

// pmem_persist, or pmem_msync if that is not enough. Returns 0, or the error's number.
using PersistFunction = int (*)(const void* data, std::size_t bytes);
PersistFunction persist_function(Durability durability);

}  // namespace nameplate
