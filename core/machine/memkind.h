// Memory from an allocator on a mount, through memkind_create_pmem.
#pragma once

#include <cstddef>
#include <string>

#include "machine/buffer.h"

namespace nameplate {

// Allocates from a heap in an unnamed file in this directory. Throws ProbeError: skipped if memkind is missing or the
// mount is full, failed otherwise.
Buffer allocate_memkind(const std::string& directory, std::size_t size_bytes);

}  // namespace nameplate
