// What of a file the page cache holds, and how to change that.
#pragma once

#include <cstdint>
#include <optional>

namespace nameplate {

// Bytes of the file's first `size_bytes` that are in the page cache, whole pages counted: by cachestat(2) (Linux 6.5),
// else by mincore(2), which a program may only ask of files it could write. Nothing where neither answers.
std::optional<std::int64_t> resident_bytes(int descriptor, std::int64_t size_bytes);

// What is dirty reaches the device. Throws ProbeError(failed) where it does not.
void write_out(int descriptor);

// Writes out what is dirty and asks the kernel to drop the file's pages, which is a request and no command: see
// resident_bytes. Throws ProbeError(failed) when the writing fails.
void evict(int descriptor);

// Reads the file's first `size_bytes` into the page cache without looking at them.
void warm(int descriptor, std::int64_t size_bytes);

}  // namespace nameplate
