#include "disk/page_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "machine/page_size.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr long kSysCachestat = 451;  // equal on every architecture; Debian 12's headers are older
constexpr int kMaxTries = 3;
constexpr std::int64_t kWarmStep = 1 << 20;

struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t length;
};

struct Cachestat {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t writeback;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

std::optional<std::int64_t> by_mincore(int descriptor, std::int64_t size_bytes) {
  const auto length = static_cast<std::size_t>(size_bytes);
  void* const mapped = mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return std::nullopt;  // NOLINT: the macro casts
  std::vector<unsigned char> pages((length + page_bytes() - 1) / page_bytes());
  const bool answered = mincore(mapped, length, pages.data()) == 0;
  munmap(mapped, length);
  if (!answered) return std::nullopt;
  const auto resident = std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; });
  return resident * static_cast<std::int64_t>(page_bytes());
}

// Files of an overlay have no pages of their own: the layer below has them, where mincore looks and cachestat does not.
bool is_overlay(int descriptor) {
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace

std::optional<std::int64_t> resident_bytes(int descriptor, std::int64_t size_bytes) {
  if (size_bytes == 0) return 0;
  if (is_overlay(descriptor)) return by_mincore(descriptor, size_bytes);
  CachestatRange range{.offset = 0, .length = static_cast<std::uint64_t>(size_bytes)};
  Cachestat result{};
  if (syscall(kSysCachestat, descriptor, &range, &result, 0) == 0) {
    return static_cast<std::int64_t>(result.cached * page_bytes());
  }
  return by_mincore(descriptor, size_bytes);
}

void write_out(int descriptor) {
  if (fdatasync(descriptor) != 0 && errno != EINVAL && errno != EROFS) {
    fail(fmt::format("cannot write the file to the device: {}", std::strerror(errno)));
  }
}

void evict(int descriptor) {
  write_out(descriptor);
  // Recently written pages may be held for a moment.
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    const off_t size = lseek(descriptor, 0, SEEK_END);
    if (size <= 0 || resident_bytes(descriptor, size).value_or(0) == 0) return;
  }
}

void warm(int descriptor, std::int64_t size_bytes) {
  std::vector<char> unused(static_cast<std::size_t>(std::min(kWarmStep, size_bytes)));
  for (std::int64_t at = 0; at < size_bytes; at += kWarmStep) {
    if (pread(descriptor, unused.data(), unused.size(), at) < 0) {
      fail(fmt::format("cannot read the file at {}: {}", at, std::strerror(errno)));
    }
  }
}

}  // namespace nameplate
