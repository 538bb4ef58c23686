// Memory in a file of persistent memory's, by libpmem (pmem.io), and how stores to it are made durable.
#pragma once

#include <cstddef>
#include <string>

#include "machine/buffer.h"

namespace nameplate {

// A file without a name in this directory, all of it allocated, mapped. Throws ProbeError: skipped where libpmem is
// missing or the mount is full, failed otherwise.
Buffer map_pmem(const std::string& directory, std::size_t size_bytes);

enum class Durability {
  persistent,  // flushing the caches is enough, as libpmem sees it: the mapping has MAP_SYNC
  forced,      // PMEM_IS_PMEM_FORCE=1 in the environment claims that, of whatever memory
  none,        // only msync(2) makes stores durable
};
std::string to_string(Durability durability);

// Of what map_pmem gives in this directory, from mapping a page. Throws as that does.
Durability durability_in(const std::string& directory);

// pmem_persist, or where that is not enough pmem_msync: 0, or the error's number.
using PersistFunction = int (*)(const void* begin, std::size_t bytes);
PersistFunction persist_function(Durability durability);

}  // namespace nameplate
