#include "machine/dmi.h"

#include <unistd.h>

#include <random>

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

using Table = std::vector<std::uint8_t>;

void put_word(Table& structure, std::size_t offset, unsigned value) {
  structure.at(offset) = static_cast<std::uint8_t>(value);
  structure.at(offset + 1) = static_cast<std::uint8_t>(value >> 8U);
}

void put_double_word(Table& structure, std::size_t offset, unsigned value) {
  put_word(structure, offset, value & 0xffffU);
  put_word(structure, offset + 2, value >> 16U);
}

// A DDR4 module of 16 GiB for 3200 MT/s that runs at 2933, as SMBIOS 3.3 lays it out, without its strings.
Table fields(std::size_t length = 0x5c) {
  Table result(0x64, 0);
  result[0] = 17;
  result[1] = static_cast<std::uint8_t>(length);
  put_word(result, 0x08, 72);
  put_word(result, 0x0a, 64);
  put_word(result, 0x0c, 16384);
  result[0x10] = 1;
  result[0x11] = 2;
  result[0x12] = 0x1a;
  put_word(result, 0x15, 3200);
  for (std::uint8_t i = 0; i < 4; ++i) result[0x17 + i] = static_cast<std::uint8_t>(3 + i);
  put_word(result, 0x20, 2933);
  result.resize(length);
  return result;
}

Table with_strings(Table structure, const std::vector<std::string>& strings) {
  for (const std::string& text : strings) {
    structure.insert(structure.end(), text.begin(), text.end());
    structure.push_back(0);
  }
  if (strings.empty()) structure.push_back(0);
  structure.push_back(0);
  return structure;
}

const std::vector<std::string> kStrings = {"DIMM_A1 ",    "P0 CHANNEL A", "Maker",
                                           "SERIAL-4711", "ASSET-4711",   "PART-4711"};

MemoryModule only_module(const Table& structure) {
  const auto modules = parse_memory_modules(structure);
  EXPECT_TRUE(modules && modules->size() == 1);
  return modules && !modules->empty() ? modules->front() : MemoryModule();
}

TEST(Dmi, ReadsAModule) {
  const MemoryModule module = only_module(with_strings(fields(), kStrings));
  EXPECT_EQ(module.locator, "DIMM_A1");
  EXPECT_EQ(module.bank, "P0 CHANNEL A");
  EXPECT_EQ(module.size_bytes, 16 * kGibi);
  EXPECT_EQ(module.width_bits, 64);
  EXPECT_EQ(module.rated_transfers_per_s, 3'200'000'000);
  EXPECT_EQ(module.configured_transfers_per_s, 2'933'000'000);
  EXPECT_EQ(module.type, "DDR4");
}

TEST(Dmi, ReadsEverySize) {
  const auto size = [](unsigned word, unsigned extended = 0) {
    Table structure = fields();
    put_word(structure, 0x0c, word);
    put_double_word(structure, 0x1c, extended);
    return only_module(with_strings(structure, kStrings)).size_bytes;
  };
  EXPECT_EQ(size(0), 0);
  EXPECT_EQ(size(0xffff), std::nullopt);
  EXPECT_EQ(size(512), 512 * kMebi);
  EXPECT_EQ(size(0x8000U | 512U), 512 * 1024);
  EXPECT_EQ(size(0x7fff, 65536), 64 * kGibi);
  EXPECT_EQ(size(0x7fff, 0x8000'0000U | 131072U), 128 * kGibi);  // the highest bit is reserved
}

TEST(Dmi, ReadsEverySpeed) {
  Table structure = fields();
  put_word(structure, 0x15, 0);
  put_word(structure, 0x20, 0xffff);
  put_double_word(structure, 0x58, 70'000);
  const MemoryModule fast = only_module(with_strings(structure, kStrings));
  EXPECT_EQ(fast.rated_transfers_per_s, std::nullopt);
  EXPECT_EQ(fast.configured_transfers_per_s, 70'000'000'000);
  put_double_word(structure, 0x58, 0);
  EXPECT_EQ(only_module(with_strings(structure, kStrings)).configured_transfers_per_s, std::nullopt);
}

TEST(Dmi, OlderAndShorterStructuresLackTheirLaterFields) {
  const MemoryModule smbios_2_3 = only_module(with_strings(fields(0x1b), kStrings));
  EXPECT_EQ(smbios_2_3.rated_transfers_per_s, 3'200'000'000);
  EXPECT_EQ(smbios_2_3.configured_transfers_per_s, std::nullopt);
  const MemoryModule smbios_2_1 = only_module(with_strings(fields(0x15), kStrings));
  EXPECT_EQ(smbios_2_1.rated_transfers_per_s, std::nullopt);
  EXPECT_EQ(smbios_2_1.type, "DDR4");
  const MemoryModule nothing = only_module(with_strings(fields(4), {}));
  EXPECT_EQ(nothing.size_bytes, std::nullopt);
  EXPECT_EQ(nothing.locator, "");
}

TEST(Dmi, MissingStringsAreEmpty) {
  EXPECT_EQ(only_module(with_strings(fields(), {})).locator, "");
  const MemoryModule one = only_module(with_strings(fields(), {"only"}));
  EXPECT_EQ(one.locator, "only");
  EXPECT_EQ(one.bank, "");
}

TEST(Dmi, StringsAreMadePrintable) {
  EXPECT_EQ(only_module(with_strings(fields(), {"\xff\x01 A1", "   "})).locator, ".. A1");
  EXPECT_EQ(only_module(with_strings(fields(), {"x", "   "})).bank, "");
}

TEST(Dmi, OtherStructuresAreIgnored) {
  Table table = with_strings({1, 4, 0, 0}, {"Vendor", "Product"});
  const Table module = with_strings(fields(), kStrings);
  table.insert(table.end(), module.begin(), module.end());
  table.insert(table.end(), module.begin(), module.end());
  const Table behind_the_end = {127, 4, 0, 0, 0, 0, 17, 255, 1, 2, 3};
  table.insert(table.end(), behind_the_end.begin(), behind_the_end.end());
  EXPECT_EQ(parse_memory_modules(table)->size(), 2U);
  EXPECT_TRUE(parse_memory_modules({})->empty());
}

TEST(Dmi, AnUnterminatedTableIsDamaged) {
  const Table full_table = with_strings(fields(), kStrings);
  for (std::size_t length = 1; length < full_table.size(); ++length) {
    EXPECT_FALSE(parse_memory_modules({full_table.data(), length})) << length;
  }
  EXPECT_FALSE(parse_memory_modules(Table{17, 3, 0, 0, 0, 0}));
  EXPECT_FALSE(parse_memory_modules(Table{17, 0, 0, 0, 0, 0}));
}

// The address sanitizer would detect a read beyond the end.
TEST(Dmi, RandomBytesDoNotCrashIt) {
  std::mt19937 random(4711);  // NOLINT: the same bytes in every run
  const Table full_table = with_strings(fields(), kStrings);
  for (int round = 0; round < 20'000; ++round) {
    Table table = full_table;
    table.insert(table.end(), full_table.begin(), full_table.end());
    for (int i = 0; i < 1 + round % 8; ++i) table[random() % table.size()] = static_cast<std::uint8_t>(random());
    table.resize(random() % (table.size() + 1));
    table.shrink_to_fit();
    const auto modules = parse_memory_modules(table);
    EXPECT_LE(modules ? modules->size() : 0, table.size() / 6);
  }
}

class DmiFileTest : public FakeRoot {
 protected:
  void put_table(const Table& table) const {
    put("/sys/firmware/dmi/tables/DMI", "");
    std::ofstream(path("/sys/firmware/dmi/tables/DMI"), std::ios::binary)
        .write(reinterpret_cast<const char*>(table.data()), static_cast<std::streamsize>(table.size()));  // NOLINT
  }
};

TEST_F(DmiFileTest, ReportsTheModules) {
  EXPECT_EQ(read_memory_modules(root()).status, ModulesStatus::no_table);
  put_table(with_strings(fields(), kStrings));
  EXPECT_EQ(read_memory_modules(root()).status, ModulesStatus::read);
  EXPECT_EQ(read_memory_modules(root()).modules.size(), 1U);
  put_table(fields());
  EXPECT_EQ(read_memory_modules(root()).status, ModulesStatus::damaged);
  EXPECT_TRUE(read_memory_modules(root()).modules.empty());
}

TEST_F(DmiFileTest, ReportsThatOnlyRootMayReadIt) {
  put_table(with_strings(fields(), kStrings));
  std::filesystem::permissions(path("/sys/firmware/dmi/tables/DMI"), std::filesystem::perms::none);
  constexpr uid_t kNobody = 65534;
  const uid_t before = geteuid();
  ASSERT_TRUE(before != 0 || seteuid(kNobody) == 0);
  const ModulesStatus status = read_memory_modules(root()).status;
  ASSERT_TRUE(before != 0 || seteuid(before) == 0);
  EXPECT_EQ(status, ModulesStatus::no_permission);
}

}  // namespace
}  // namespace nameplate
