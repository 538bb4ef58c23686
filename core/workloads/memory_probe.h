// Code that the memory probes share: their parameters, and how large an array must be to measure memory and not a
// cache.
#pragma once

#include <cstdint>

#include "machine/buffer.h"
#include "machine/machine.h"
#include "probe/probe.h"

namespace nameplate {

inline constexpr double kLargestRegion = 0x1p50;

Parameter pages_parameter();
Pages parse_pages(const std::string& name);

// Returns the size of all last-level caches together, as the system lists them; 0 if it lists none.
std::int64_t last_level_bytes(const Machine& machine);

// Returns four times that, as STREAM requires for each of its arrays, and at least 64 MiB, since some systems list no
// cache or not all.
std::int64_t memory_array_bytes(const Machine& machine);

// The facts that all of these probes add: the memory that they touch, how much of it the kernel really backs with huge
// pages, and the caches that it may fit in.
std::vector<Fact> memory_facts();
Facts memory_fact_values(std::int64_t touched_bytes, std::int64_t huge_bytes, const Machine& machine);

// The fact `line_round_trip_s` (measure/line_transfer.h), of probes with several threads: in a guest, the host may have
// placed the CPUs anew since the last round, and with them what links they have to memory.
Fact line_fact();

}  // namespace nameplate
