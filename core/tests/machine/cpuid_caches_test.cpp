#include "machine/cpuid_caches.h"

#include <fmt/format.h>

#include <tuple>

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

using CpuidCachesTest = FakeRoot;

// Caches as (level, type, bytes, line, ways, sharing).
using Row = std::tuple<int, std::string, std::int64_t, std::int64_t, int, int>;

std::vector<Row> rows(const std::vector<CpuidCache>& caches) {
  std::vector<Row> result;
  for (const CpuidCache& c : caches) {
    result.emplace_back(c.level, c.type, c.size_bytes, c.line_bytes, c.ways, c.shared_by);
  }
  return result;
}

// The registers follow the Software Developer's Manual for the caches that Intel documents for Skylake Server.
TEST_F(CpuidCachesTest, IntelReportsCachesInLeaf4) {
  put("/recorded/cpuid",
      "CPU:\n"
      "   0x80000001 0x00: eax=0x00000000 ebx=0x00000000 ecx=0x00000121 edx=0x2c100800\n"
      "   0x00000004 0x00: eax=0x7c004121 ebx=0x01c0003f ecx=0x0000003f edx=0x00000000\n"
      "   0x00000004 0x01: eax=0x7c004122 ebx=0x01c0003f ecx=0x0000003f edx=0x00000000\n"
      "   0x00000004 0x02: eax=0x7c004143 ebx=0x03c0003f ecx=0x000003ff edx=0x00000000\n"
      "   0x00000004 0x03: eax=0x7c0fc163 ebx=0x0280003f ecx=0x00008fff edx=0x00000004\n"
      "   0x00000004 0x04: eax=0x00000000 ebx=0x00000000 ecx=0x00000000 edx=0x00000000\n");
  EXPECT_EQ(rows(read_cpuid_caches(root())), (std::vector<Row>{{1, "data", 32 << 10, 64, 8, 2},
                                                               {1, "instruction", 32 << 10, 64, 8, 2},
                                                               {2, "unified", 1 << 20, 64, 16, 2},
                                                               {3, "unified", 25344 << 10, 64, 11, 64}}));
}

// The registers were recorded on a real machine.
TEST_F(CpuidCachesTest, AmdReportsCachesInALeafOfItsOwn) {
  put("/recorded/cpuid",
      "0x80000001 0x00: eax=0x00a10f11 ebx=0x40000000 ecx=0x004003f3 edx=0x2fd3fbff\n"
      "0x00000004 0x00: eax=0x00000000 ebx=0x00000000 ecx=0x00000000 edx=0x00000000\n"
      "0x8000001d 0x00: eax=0x00000121 ebx=0x01c0003f ecx=0x0000003f edx=0x00000000\n"
      "0x8000001d 0x01: eax=0x00000122 ebx=0x01c0003f ecx=0x0000003f edx=0x00000000\n"
      "0x8000001d 0x02: eax=0x00000143 ebx=0x01c0003f ecx=0x000007ff edx=0x00000002\n"
      "0x8000001d 0x03: eax=0x00004163 ebx=0x03c0003f ecx=0x00007fff edx=0x00000001\n"
      "0x8000001d 0x04: eax=0x00000000 ebx=0x00000000 ecx=0x00000000 edx=0x00000000\n");
  EXPECT_EQ(rows(read_cpuid_caches(root())), (std::vector<Row>{{1, "data", 32 << 10, 64, 8, 1},
                                                               {1, "instruction", 32 << 10, 64, 8, 1},
                                                               {2, "unified", 1 << 20, 64, 8, 1},
                                                               {3, "unified", 32 << 20, 64, 16, 2}}));
}

TEST_F(CpuidCachesTest, ARecordedMachineWithoutCpuidHasNone) {
  EXPECT_TRUE(read_cpuid_caches(root()).empty());
  put("/recorded/cpuid", "no answers at all\n0x00000004 0x00: eax=");
  EXPECT_TRUE(read_cpuid_caches(root()).empty());
}

TEST_F(CpuidCachesTest, AnEndlessListIsCutOff) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("0x00000004 {:#x}: eax=0x21 ebx=0x3f ecx=0x3f edx=0x0\n", i);
  put("/recorded/cpuid", text);
  EXPECT_LE(read_cpuid_caches(root()).size(), 16U);
}

TEST(CpuidCachesOfThisMachine, ArePlausible) {
  for (const CpuidCache& cache : read_cpuid_caches(Root())) {
    EXPECT_GE(cache.level, 1);
    EXPECT_GE(cache.size_bytes, cache.line_bytes * cache.ways);
    EXPECT_GE(cache.shared_by, 1);
  }
}

}  // namespace
}  // namespace nameplate
