#include "machine/page_size.h"

#include <unistd.h>

#include <cstdint>

namespace nameplate {

std::size_t page_bytes() {
  static const auto kBytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return kBytes;
}

std::size_t huge_page_bytes(const Root& root) {
  constexpr std::int64_t kDefault = std::int64_t{2} << 20;
  constexpr std::int64_t kLargest = std::int64_t{32} << 20;
  const std::int64_t bytes = root.number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").value_or(kDefault);
  return bytes > kLargest ? page_bytes() : static_cast<std::size_t>(bytes);
}

}  // namespace nameplate
