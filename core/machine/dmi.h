// The memory modules that the firmware lists in its DMI table, by DMTF DSP0134 "System Management BIOS (SMBIOS)
// Reference Specification", 7.18 "Memory Device (Type 17)".
//
// Serial numbers, asset tags and part numbers stand in the same structures and are not read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

// A place for a module and what is in it, as the firmware states it. Nothing: not stated.
struct MemoryModule {
  std::string locator;                     // "DIMM_A1"; the name beside the slot, which differs from board to board
  std::string bank;                        // "P0 CHANNEL A", "BANK 0"
  std::optional<std::int64_t> size_bytes;  // 0: an empty slot
  std::optional<int> width_bits;           // of the data, without the bits for error correction
  // What the module is made for, and what it was set to at boot. Some firmware writes the clock in MHz instead, half of
  // it.
  std::optional<std::int64_t> rated_transfers_per_s;
  std::optional<std::int64_t> configured_transfers_per_s;
  std::optional<std::string> type;  // "DDR4"
};

enum class ModulesStatus {
  read,
  no_table,       // as in most guests and containers
  no_permission,  // only root may read it
  damaged,        // a structure does not end inside the table: what follows it is lost
};

std::string to_string(ModulesStatus status);

struct MemoryModules {
  ModulesStatus status = ModulesStatus::no_table;
  std::vector<MemoryModule> modules;  // with the empty slots; none unless read
};

MemoryModules read_memory_modules(const Root& root);

// Those of a table as /sys/firmware/dmi/tables/DMI holds it; nothing where it is damaged.
std::optional<std::vector<MemoryModule>> parse_memory_modules(std::span<const std::uint8_t> table);

}  // namespace nameplate
