// Memory from an allocator on a file's mount, by memkind's memkind_create_pmem.
#pragma once

#include <cstddef>
#include <string>

#include "machine/buffer.h"

namespace nameplate {

// Of a heap of its own in a file without a name in this directory. Throws ProbeError: skipped where memkind is missing
// or the mount is full, failed otherwise.
Buffer allocate_memkind(const std::string& directory, std::size_t size_bytes);

}  // namespace nameplate
