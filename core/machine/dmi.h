// The memory modules in the firmware's DMI table, by DMTF DSP0134 "System Management BIOS (SMBIOS) Reference
// Specification", 7.18 "Memory Device (Type 17)".
//
// Serial numbers, asset tags and part numbers are in the same structures and are not read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

// A slot and its module as the firmware states them. Nothing means not stated.
struct MemoryModule {
  std::string locator;                     // "DIMM_A1": the name printed next to the slot, which depends on the board
  std::string bank;                        // "P0 CHANNEL A", "BANK 0"
  std::optional<std::int64_t> size_bytes;  // 0 for an empty slot
  std::optional<int> width_bits;           // of the data, without error correction bits
  // The maximum speed of the module, and the speed configured at boot. Some firmware writes the clock in MHz instead,
  // half of the transfers.
  std::optional<std::int64_t> rated_transfers_per_s;
  std::optional<std::int64_t> configured_transfers_per_s;
  std::optional<std::string> type;  // "DDR4"
};

enum class ModulesStatus {
  read,
  no_table,       // as in most guests and containers
  no_permission,  // only root may read it
  damaged,        // a structure is truncated, so that the rest is lost
};

std::string to_string(ModulesStatus status);

struct MemoryModules {
  ModulesStatus status = ModulesStatus::no_table;
  std::vector<MemoryModule> modules;  // including empty slots; empty unless read
};

MemoryModules read_memory_modules(const Root& root);

// Parses a table in the format of /sys/firmware/dmi/tables/DMI; nothing if it is damaged.
std::optional<std::vector<MemoryModule>> parse_memory_modules(std::span<const std::uint8_t> table);

}  // namespace nameplate
