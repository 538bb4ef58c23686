#include "machine/cpuid_caches.h"

#include <map>
#include <optional>

#include "machine/cpuid.h"

namespace nameplate {

namespace {

constexpr std::uint32_t kIntelCaches = 4;
constexpr std::uint32_t kAmdFeatures = 0x8000'0001;
constexpr std::uint32_t kAmdCaches = 0x8000'001d;

// AMD has leaf 4 too, but empty; on Intel this feature bit is 0.
bool has_topology_extensions(const Cpuid& cpuid) {
  constexpr std::uint32_t kTopologyExtensions = 1U << 22;
  const auto features = cpuid(kAmdFeatures, 0);
  return features && (features->ecx & kTopologyExtensions) != 0;
}

// Returns `count` bits, starting at bit `first`.
std::uint32_t bits(std::uint32_t value, unsigned first, unsigned count) { return value >> first & ((1U << count) - 1); }

// Returns nothing for the entry that ends the list.
std::optional<CpuidCache> decoded(const CpuidRegisters& answer) {
  static const std::map<std::uint32_t, std::string> kTypes = {{1, "data"}, {2, "instruction"}, {3, "unified"}};
  const auto type = kTypes.find(bits(answer.eax, 0, 5));
  if (type == kTypes.end()) return std::nullopt;
  const std::uint64_t line = bits(answer.ebx, 0, 12) + 1;
  const std::uint64_t partitions = bits(answer.ebx, 12, 10) + 1;
  const std::uint64_t ways = bits(answer.ebx, 22, 10) + 1;
  const std::uint64_t sets = std::uint64_t{answer.ecx} + 1;
  return CpuidCache{.level = static_cast<int>(bits(answer.eax, 5, 3)),
                    .type = type->second,
                    .size_bytes = static_cast<std::int64_t>(line * partitions * ways * sets),
                    .line_bytes = static_cast<std::int64_t>(line),
                    .ways = static_cast<int>(ways),
                    .shared_by = static_cast<int>(bits(answer.eax, 14, 12)) + 1};
}

std::vector<CpuidCache> caches_of(const Cpuid& cpuid) {
  constexpr std::uint32_t kMaxCaches = 16;  // a limit, in case a hypervisor never ends the list
  const std::uint32_t leaf = has_topology_extensions(cpuid) ? kAmdCaches : kIntelCaches;
  std::vector<CpuidCache> result;
  for (std::uint32_t subleaf = 0; subleaf < kMaxCaches; ++subleaf) {
    const auto answer = cpuid(leaf, subleaf);
    const auto cache = answer ? decoded(*answer) : std::nullopt;
    if (!cache) break;
    result.push_back(*cache);
  }
  return result;
}

}  // namespace

std::vector<CpuidCache> read_cpuid_caches(const Root& root) { return caches_of(cpuid_of(root)); }

}  // namespace nameplate
