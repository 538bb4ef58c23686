#include "machine/emulation.h"

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

using EmulationTest = FakeRoot;

TEST_F(EmulationTest, AProcessorOfTheKernelsOwnArchitectureIsNotEmulated) {
  put("/proc/sys/kernel/arch", "aarch64");
  EXPECT_EQ(read_emulator(root(), "aarch64"), std::nullopt);
}

TEST_F(EmulationTest, AProgramForAnotherArchitectureThanTheKernelsIsEmulated) {
  put("/proc/sys/kernel/arch", "x86_64");
  EXPECT_EQ(read_emulator(root(), "aarch64"), "a program on x86_64");
}

TEST_F(EmulationTest, TheListOfProcessorsTellsTheArchitectureOfAnOlderKernel) {
  put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD");
  EXPECT_EQ(read_emulator(root(), "aarch64"), "a program on x86_64");
  EXPECT_EQ(read_emulator(root(), "x86_64"), std::nullopt);
  put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41");
  EXPECT_EQ(read_emulator(root(), "x86_64"), "a program on aarch64");
}

TEST_F(EmulationTest, AnUnknownKernelIsBelieved) { EXPECT_EQ(read_emulator(root(), "aarch64"), std::nullopt); }

// The registers are the bytes of the name, as QEMU and KVM give them.
TEST_F(EmulationTest, QemuNamesItselfIfNoProcessorRunsTheProgram) {
  put("/recorded/cpuid", "0x40000000 0x00: eax=0x40000001 ebx=0x54474354 ecx=0x43544743 edx=0x47435447");
  EXPECT_EQ(read_emulator(root(), "x86_64"), "QEMU (TCG)");
  put("/recorded/cpuid", "0x40000000 0x00: eax=0x40000001 ebx=0x4b4d564b ecx=0x564b4d56 edx=0x0000004d");
  EXPECT_EQ(read_emulator(root(), "x86_64"), std::nullopt);
}

}  // namespace
}  // namespace nameplate
