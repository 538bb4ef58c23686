// The memory that a connection's bytes are sent from and received into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace nameplate {

// Allocates whole pages. The kernel copies by `rep movsb`, and on Zen 3 a copy into memory that is not aligned takes
// three times as long, so that an allocator's 16 bytes before a block decide the rate of a stream
// (docs/measurements/network.md).
template <class T>
struct PageAligned {
  using value_type = T;
  static constexpr std::align_val_t kPage{4096};

  PageAligned() = default;
  template <class Other>
  explicit PageAligned(const PageAligned<Other>& /*other*/) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kPage)); }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, kPage); }
  friend bool operator==(const PageAligned& /*a*/, const PageAligned& /*b*/) { return true; }
};

using Payload = std::vector<std::uint8_t, PageAligned<std::uint8_t>>;

}  // namespace nameplate
