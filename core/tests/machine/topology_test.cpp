#include "machine/topology.h"

#include <sched.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

using Variable = std::pair<const char*, const char*>;

class HwlocVariable : public FakeRoot, public testing::WithParamInterface<Variable> {
 protected:
  void SetUp() override {
    FakeRoot::SetUp();
    put("/proc/cpuinfo", "processor\t: 0\n");
    put("/other.xml", R"(<?xml version="1.0"?><topology version="2.0"><object type="Machine" os_index="0" cpuset="0x1"
complete_cpuset="0x1" allowed_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1"><object
type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
local_memory="1"/><object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
complete_nodeset="0x1"/></object></topology>)");
  }
  void TearDown() override {
    unsetenv(GetParam().first);
    FakeRoot::TearDown();
  }

  // {path} stands for the directory of the test.
  void set() const {
    std::string value = GetParam().second;
    if (const auto at = value.find("{path}"); at != std::string::npos) value.replace(at, 6, path(""));
    setenv(GetParam().first, value.c_str(), 1);
  }
};

TEST_P(HwlocVariable, DoesNotReplaceTheTopologyOfThisSystem) {
  const Topology plain = read_topology(Root());
  set();
  const Topology topology = read_topology(Root());
  EXPECT_EQ(topology.cores, plain.cores);
  EXPECT_EQ(topology.threads, plain.threads);
  EXPECT_EQ(topology.caches.size(), plain.caches.size());
  EXPECT_EQ(topology.allowed.cpus, plain.allowed.cpus);
}

TEST_P(HwlocVariable, DoesNotWidenTheAffinityMask) {
  const unsigned cpu = read_topology(Root()).allowed.cpus.back();
  set();
  const ScopedBinding binding(cpu);
  EXPECT_EQ(read_topology(Root()).allowed.cpus, std::vector<unsigned>{cpu});
}

TEST_P(HwlocVariable, DoesNotPreventABinding) {
  const Placement allowed = read_topology(Root()).allowed;
  set();
  for (const unsigned cpu : allowed.cpus) {
    const ScopedBinding binding(cpu);
    CpuMask mask{};
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, mask.data()), 0);
    EXPECT_EQ(CPU_COUNT_S(sizeof mask, mask.data()), 1);
    EXPECT_TRUE(CPU_ISSET_S(cpu, sizeof mask, mask.data()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, HwlocVariable,
                         testing::Values(Variable{"HWLOC_XMLFILE", "{path}/other.xml"},
                                         Variable{"HWLOC_SYNTHETIC", "pack:2 core:16 pu:2"},
                                         Variable{"HWLOC_FSROOT", "{path}"}, Variable{"HWLOC_CPUID_PATH", "{path}"},
                                         Variable{"HWLOC_COMPONENTS", "synthetic,stop"},
                                         Variable{"HWLOC_COMPONENTS", "-linux,-x86"},
                                         Variable{"HWLOC_COMPONENTS", "no_os,stop"}, Variable{"HWLOC_THISSYSTEM", "0"},
                                         Variable{"HWLOC_ALLOW", "all"}));

TEST_F(FakeRoot, HwlocsOwnRemedyForAWrongCpuidIsKept) {
  setenv("HWLOC_COMPONENTS", "-x86", 1);
  read_topology(Root());
  EXPECT_STREQ(std::getenv("HWLOC_COMPONENTS"), "-x86");
  unsetenv("HWLOC_COMPONENTS");
}

TEST(ScopedBinding, RestoresTheMaskOfItsThread) {
  CpuMask before{};
  CpuMask after{};
  sched_getaffinity(0, sizeof before, before.data());
  { const ScopedBinding binding(read_topology(Root()).allowed.cpu_of(0)); }
  sched_getaffinity(0, sizeof after, after.data());
  EXPECT_TRUE(CPU_EQUAL_S(sizeof before, before.data(), after.data()));
}

}  // namespace
}  // namespace nameplate
