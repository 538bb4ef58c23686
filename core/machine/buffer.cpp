#include "machine/buffer.h"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "machine/page_size.h"

namespace nameplate {

namespace {

std::size_t unit_of(Pages pages) {
  static const std::size_t kHugePage = huge_page_bytes(Root());
  return pages == Pages::huge ? kHugePage : page_bytes();
}

std::size_t rounded_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

std::uintptr_t address_of(const std::byte* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);  // NOLINT: page arithmetic
}

}  // namespace

Buffer::Buffer(std::size_t size_bytes, Pages pages) : size_bytes_(size_bytes) {
  const std::size_t unit = unit_of(pages);
  const std::size_t aligned_bytes = rounded_up(size_bytes, unit);
  const std::size_t mapped = aligned_bytes + (unit > page_bytes() ? unit : 0);
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {  // NOLINT: the macro casts
    throw std::runtime_error(fmt::format("cannot map {} bytes of memory: {}", mapped, std::strerror(errno)));
  }
  auto* memory = static_cast<std::byte*>(raw);
  // The kernel uses huge pages only on their own boundary, so the unaligned ends are unmapped.
  const std::size_t before = rounded_up(address_of(memory), unit) - address_of(memory);
  if (before > 0) munmap(memory, before);
  if (mapped - before > aligned_bytes) munmap(memory + before + aligned_bytes, mapped - before - aligned_bytes);
  mapped_bytes_ = aligned_bytes;
  memory_ = {memory + before, [aligned_bytes](std::byte* mine) { munmap(mine, aligned_bytes); }};
  madvise(memory_.get(), aligned_bytes, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Buffer::Buffer(std::byte* memory, std::size_t size_bytes, Release release)
    : memory_(memory, std::move(release)), size_bytes_(size_bytes), mapped_bytes_(size_bytes) {}

void Buffer::touch(std::size_t first, std::size_t end) const {
  for (std::size_t at = first; at < end; at += page_bytes()) {
    *static_cast<volatile std::byte*>(memory_.get() + at) = std::byte{1};
  }
}

void Buffer::bind_to_node(unsigned node) const {
  constexpr unsigned kBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, 16> nodes{};
  const bool fits = node < nodes.size() * kBits;
  if (fits) nodes.at(node / kBits) = 1UL << (node % kBits);
  if (!fits ||
      syscall(SYS_mbind, memory_.get(), mapped_bytes_, MPOL_BIND, nodes.data(), nodes.size() * kBits, 0) != 0) {
    throw std::runtime_error(fmt::format("cannot allocate memory on NUMA node {}: {}", node, std::strerror(errno)));
  }
}

std::int64_t Buffer::huge_bytes() const {
  constexpr std::int64_t kKibi = 1024;
  const std::uintptr_t first = address_of(memory_.get());
  const std::uintptr_t end = first + size_bytes_;
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  std::int64_t result = 0;
  for (std::string line; std::getline(file, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) inside = from < end && to > first;  // NOLINT
    if (inside && line.starts_with("AnonHugePages:")) result += std::stoll(line.substr(line.find(':') + 1)) * kKibi;
  }
  return result;
}

}  // namespace nameplate
