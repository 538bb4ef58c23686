#include "workloads/memory_probe.h"

#include <algorithm>

namespace nameplate {

namespace {

constexpr std::int64_t kSmallestArray = std::int64_t{64} << 20;
constexpr std::int64_t kTimesLastLevel = 4;

}  // namespace

Parameter pages_parameter() {
  return choice(
      "pages",
      "huge: transparent huge pages (2 MiB on x86-64) if the system provides them, so that translation costs little; "
      "small: ordinary pages (4 KiB on x86-64)",
      {"huge", "small"}, "huge");
}

Pages parse_pages(const std::string& name) { return name == "huge" ? Pages::huge : Pages::small; }

std::int64_t last_level_bytes(const Machine& machine) {
  int last = 0;
  std::int64_t bytes = 0;
  for (const Cache& cache : machine.topology.caches) {
    if (cache.type == "instruction" || cache.level < last) continue;
    if (cache.level > last) bytes = 0;
    last = cache.level;
    bytes += cache.size_bytes * cache.count;
  }
  return bytes;
}

std::int64_t memory_array_bytes(const Machine& machine) {
  return std::max(kTimesLastLevel * last_level_bytes(machine), kSmallestArray);
}

std::vector<Fact> memory_facts() {
  return {{"touched_bytes", "B", "total memory that is read or written"},
          {"huge_bytes", "B", "bytes of it on huge pages"},
          {"last_level_bytes", "B", "all last-level caches together, as the system lists them"}};
}

Facts memory_fact_values(std::int64_t touched_bytes, std::int64_t huge_bytes, const Machine& machine) {
  return {{"touched_bytes", static_cast<double>(touched_bytes)},
          {"huge_bytes", static_cast<double>(huge_bytes)},
          {"last_level_bytes", static_cast<double>(last_level_bytes(machine))}};
}

Fact line_fact() {
  return {"line_round_trip_s", "s",
          "round trip of a cache line between the first thread's CPU and the farthest one's; 0 with one thread, or "
          "with threads that share CPUs"};
}

}  // namespace nameplate
