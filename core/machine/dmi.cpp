#include "machine/dmi.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace nameplate {

namespace {

using Bytes = std::span<const std::uint8_t>;

const std::string kTable = "/sys/firmware/dmi/tables/DMI";

constexpr std::size_t kHeaderBytes = 4;  // type, length, handle
constexpr std::uint8_t kMemoryDevice = 17;
constexpr std::uint8_t kEndOfTable = 127;

// Offsets into a Memory Device (DSP0134, 7.18).
constexpr std::size_t kDataWidth = 0x0a;
constexpr std::size_t kSize = 0x0c;
constexpr std::size_t kLocator = 0x10;
constexpr std::size_t kBank = 0x11;
constexpr std::size_t kType = 0x12;
constexpr std::size_t kSpeed = 0x15;
constexpr std::size_t kExtendedSize = 0x1c;
constexpr std::size_t kConfiguredSpeed = 0x20;
constexpr std::size_t kExtendedSpeed = 0x54;
constexpr std::size_t kExtendedConfiguredSpeed = 0x58;

constexpr std::size_t kByte = 1;
constexpr std::size_t kWord = 2;
constexpr std::size_t kDoubleWord = 4;

struct Structure {
  Bytes fields;                // as long as its length field says; older firmware writes fewer
  Bytes strings;               // separated by NULs, without the two at the end
  std::size_t size_bytes = 0;  // of the whole structure
};

// Returns the structure at the start of the rest of a table; nothing if it is truncated.
std::optional<Structure> first_structure(Bytes rest) {
  if (rest.size() < kHeaderBytes) return std::nullopt;
  const std::size_t length = rest[1];
  if (length < kHeaderBytes || length > rest.size()) return std::nullopt;
  static constexpr std::array<std::uint8_t, 2> kEnd = {0, 0};
  const Bytes after = rest.subspan(length);
  const auto end = std::ranges::search(after, kEnd).begin();
  if (end == after.end()) return std::nullopt;
  const Bytes strings = after.first(static_cast<std::size_t>(end - after.begin()));
  return Structure{
      .fields = rest.first(length), .strings = strings, .size_bytes = length + strings.size() + kEnd.size()};
}

// Returns a little-endian number; nothing if the structure is too short to contain it.
std::optional<std::uint32_t> number(const Structure& structure, std::size_t offset, std::size_t bytes) {
  if (offset + bytes > structure.fields.size()) return std::nullopt;
  constexpr unsigned kBitsPerByte = 8;
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << kBitsPerByte | structure.fields[offset + i];
  return value;
}

// Firmware pads with blanks. Bytes that are not printable ASCII become dots, so that every record is valid UTF-8.
std::string cleaned(Bytes raw) {
  std::string text;
  for (const std::uint8_t byte : raw) text += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '.';
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Returns the string whose number, counted from 1, is at the offset; empty for 0 and for a missing string.
std::string text(const Structure& structure, std::size_t offset) {
  const std::uint32_t index = number(structure, offset, kByte).value_or(0);
  Bytes rest = structure.strings;
  for (std::uint32_t i = 1;; ++i) {
    const auto end = static_cast<std::size_t>(std::ranges::find(rest, 0) - rest.begin());
    if (i == index) return cleaned(rest.first(end));
    if (i > index || end == rest.size()) return "";
    rest = rest.subspan(end + 1);
  }
}

std::optional<std::int64_t> size_bytes(const Structure& structure) {
  constexpr std::uint32_t kUnknown = 0xffff;
  constexpr std::uint32_t kSeeExtended = 0x7fff;
  constexpr std::uint32_t kInKibibytes = 0x8000;
  constexpr std::uint32_t kExtendedMask = 0x7fff'ffff;
  constexpr std::int64_t kKibi = 1024;
  const auto size = number(structure, kSize, kWord);
  if (!size || *size == kUnknown) return std::nullopt;
  const auto extended = number(structure, kExtendedSize, kDoubleWord);
  if (*size == kSeeExtended && extended) return (*extended & kExtendedMask) * kKibi * kKibi;
  return (*size & ~kInKibibytes) * ((*size & kInKibibytes) != 0 ? kKibi : kKibi * kKibi);
}

std::optional<int> width_bits(const Structure& structure) {
  constexpr std::uint32_t kUnknown = 0xffff;
  const auto width = number(structure, kDataWidth, kWord);
  return width && *width != kUnknown ? std::optional(static_cast<int>(*width)) : std::nullopt;
}

// The unit of the field is millions of transfers per second.
std::optional<std::int64_t> transfers_per_s(const Structure& structure, std::size_t offset, std::size_t extended) {
  constexpr std::uint32_t kSeeExtended = 0xffff;
  constexpr std::uint32_t kExtendedMask = 0x7fff'ffff;
  constexpr std::int64_t kMega = 1'000'000;
  auto value = number(structure, offset, kWord);
  if (value == kSeeExtended) value = number(structure, extended, kDoubleWord);
  if (!value || (*value & kExtendedMask) == 0) return std::nullopt;
  return (*value & kExtendedMask) * kMega;
}

// Names by number; the gaps are reserved, "Other" or "Unknown".
std::optional<std::string> type_name(const Structure& structure) {
  static constexpr std::array<const char*, 0x26> kNames = {
      "",      "",      "",       "DRAM",   "EDRAM",        "VRAM",   "SRAM",   "RAM",
      "ROM",   "Flash", "EEPROM", "FEPROM", "EPROM",        "CDRAM",  "3DRAM",  "SDRAM",
      "SGRAM", "RDRAM", "DDR",    "DDR2",   "DDR2 FB-DIMM", "",       "",       "",
      "DDR3",  "FBD2",  "DDR4",   "LPDDR",  "LPDDR2",       "LPDDR3", "LPDDR4", "logical non-volatile device",
      "HBM",   "HBM2",  "DDR5",   "LPDDR5", "HBM3",         "MRDIMM"};
  const std::size_t type = number(structure, kType, kByte).value_or(0);
  if (type >= kNames.size()) return std::nullopt;
  const std::string name = kNames[type];
  return name.empty() ? std::nullopt : std::optional(name);
}

MemoryModule module_of(const Structure& structure) {
  return {.locator = text(structure, kLocator),
          .bank = text(structure, kBank),
          .size_bytes = size_bytes(structure),
          .width_bits = width_bits(structure),
          .rated_transfers_per_s = transfers_per_s(structure, kSpeed, kExtendedSpeed),
          .configured_transfers_per_s = transfers_per_s(structure, kConfiguredSpeed, kExtendedConfiguredSpeed),
          .type = type_name(structure)};
}

}  // namespace

std::string to_string(ModulesStatus status) {
  switch (status) {
    case ModulesStatus::read: return "read";
    case ModulesStatus::no_table: return "no_table";
    case ModulesStatus::no_permission: return "no_permission";
    case ModulesStatus::damaged: return "damaged";
  }
  return "damaged";
}

std::optional<std::vector<MemoryModule>> parse_memory_modules(Bytes table) {
  std::vector<MemoryModule> modules;
  // The table may have garbage behind its end: the length in SMBIOS 3's entry point is only the maximum.
  while (!table.empty() && table.front() != kEndOfTable) {
    const auto structure = first_structure(table);
    if (!structure) return std::nullopt;
    if (table.front() == kMemoryDevice) modules.push_back(module_of(*structure));
    table = table.subspan(structure->size_bytes);
  }
  return modules;
}

MemoryModules read_memory_modules(const Root& root) {
  const auto table = root.bytes(kTable);
  if (!table) return {.status = root.exists(kTable) ? ModulesStatus::no_permission : ModulesStatus::no_table};
  auto modules = parse_memory_modules(*table);
  if (!modules) return {.status = ModulesStatus::damaged};
  return {.status = ModulesStatus::read, .modules = std::move(*modules)};
}

}  // namespace nameplate
