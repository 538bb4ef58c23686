// The memory that a connection's bytes are sent from and received into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace nameplate {

// Allocates memory that begins at a multiple of 4 KiB, the smallest page. The kernel copies by `rep movsb`, which takes
// three times as long on Zen 3 if the memory begins 16 bytes later, as large blocks of the C library do
// (docs/measurements/network.md).
template <class T>
struct PageAligned {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{4096};

  PageAligned() = default;
  template <class Other>
  explicit PageAligned(const PageAligned<Other>& /*other*/) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, kAlignment); }
  friend bool operator==(const PageAligned& /*a*/, const PageAligned& /*b*/) { return true; }
};

using Payload = std::vector<std::uint8_t, PageAligned<std::uint8_t>>;

}  // namespace nameplate
