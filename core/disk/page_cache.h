// Inspects and changes what the page cache holds of a file.
#pragma once

#include <cstdint>
#include <optional>

namespace nameplate {

// Returns how many bytes of the file's first `size_bytes` are in the page cache, in whole pages: by cachestat(2) (Linux
// 6.5), else by mincore(2), which requires write access to the file. Nothing if neither works.
std::optional<std::int64_t> resident_bytes(int descriptor, std::int64_t size_bytes);

// Writes dirty pages to the device. Throws ProbeError(failed) on an error.
void write_out(int descriptor);

// Writes dirty pages and asks the kernel to drop the file's pages, which it may ignore: see resident_bytes. Throws
// ProbeError(failed) if writing fails.
void evict(int descriptor);

// Reads the file's first `size_bytes` into the page cache without using them.
void warm(int descriptor, std::int64_t size_bytes);

}  // namespace nameplate
