#include "machine/emulation.h"

#include <array>
#include <cstring>

#include "machine/cpuid.h"

namespace nameplate {

namespace {

// Linux before 6.1 has no file with its architecture, but its lists of processors differ.
std::optional<std::string> kernel_architecture(const Root& root) {
  if (const auto name = root.text("/proc/sys/kernel/arch")) return name;
  const std::string processors = root.text("/proc/cpuinfo").value_or("");
  if (field(processors, "CPU implementer")) return "aarch64";
  if (field(processors, "vendor_id")) return "x86_64";
  return std::nullopt;
}

// QEMU has this signature if it emulates, and KVMKVMKVM if the processor runs the program (QEMU, target/i386/cpu.c).
bool is_emulated_by_qemu(const Cpuid& cpuid) {
  constexpr std::uint32_t kHypervisorName = 0x4000'0000;
  const auto answer = cpuid(kHypervisorName, 0);
  if (!answer) return false;
  const std::array<std::uint32_t, 3> name = {answer->ebx, answer->ecx, answer->edx};
  return std::memcmp(name.data(), "TCGTCGTCGTCG", sizeof name) == 0;
}

}  // namespace

std::optional<std::string> read_emulator(const Root& root, const std::string& architecture) {
  const auto kernel = kernel_architecture(root);
  if (kernel && *kernel != architecture) return "a program on " + *kernel;
  if (is_emulated_by_qemu(cpuid_of(root))) return "QEMU (TCG)";
  return std::nullopt;
}

}  // namespace nameplate
