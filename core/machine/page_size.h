// The sizes of the kernel's pages of memory.
#pragma once

#include <cstddef>

#include "machine/root.h"

namespace nameplate {

// Returns the bytes of an ordinary page: 4 KiB on x86-64; 4, 16 or 64 KiB on Arm, by the kernel's configuration.
std::size_t page_bytes();

// Returns the bytes of a transparent huge page: 2 MiB where pages have 4 KiB. Where pages have 64 KiB it would be 512
// MiB, which is more than most arrays have, so the result is then that of an ordinary page.
std::size_t huge_page_bytes(const Root& root);

}  // namespace nameplate
