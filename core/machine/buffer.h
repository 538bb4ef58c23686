// Memory for kernels: page-aligned, on huge pages if requested, and touched first by its user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace nameplate {

inline constexpr std::size_t kLine = 64;  // bytes of a cache line

enum class Pages { small, huge };

class Buffer {
 public:
  using Release = std::function<void(std::byte* memory)>;

  Buffer() = default;
  // Maps `size_bytes` without touching them. Throws std::runtime_error if there is not enough.
  Buffer(std::size_t size_bytes, Pages pages);
  // Wraps memory of another library; `release` gives it back.
  Buffer(std::byte* memory, std::size_t size_bytes, Release release);

  std::size_t size_bytes() const { return size_bytes_; }
  std::byte* data() const { return memory_.get(); }

  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(memory_.get()), size_bytes_ / sizeof(T)};  // NOLINT: page-aligned raw memory
  }

  // Writes one byte of every page in [first, end). Each worker calls it for its own part, so that the kernel places the
  // pages on that worker's NUMA node.
  void touch(std::size_t first, std::size_t end) const;

  // Allocates its pages on one NUMA node, except pages that are already touched. Throws std::runtime_error.
  void bind_to_node(unsigned node) const;

  // Returns how much of it the kernel really backs with huge pages, from /proc/self/smaps.
  std::int64_t huge_bytes() const;

 private:
  std::unique_ptr<std::byte, Release> memory_;
  std::size_t size_bytes_ = 0;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace nameplate
