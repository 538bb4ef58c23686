#include "machine/cpu.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "machine/emulation.h"

namespace nameplate {

namespace {

constexpr double kHertzPerKilohertz = 1e3;
constexpr double kHertzPerMegahertz = 1e6;
constexpr double kHertzPerGigahertz = 1e9;
const std::string kCpufreq = "/sys/devices/system/cpu/cpu0/cpufreq/";

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

std::optional<double> kilohertz(const Root& root, const std::string& path) {
  const auto value = root.number(path);
  return value ? std::optional(static_cast<double>(*value) * kHertzPerKilohertz) : std::nullopt;
}

// The CPUs of one machine differ: favoured cores with a higher turbo, or kinds of cores in a hybrid.
std::optional<double> highest_frequency(const Root& root) {
  const std::string cpus = "/sys/devices/system/cpu/";
  std::optional<double> highest;
  for (const std::string& name : root.names(cpus)) {
    const auto frequency = kilohertz(root, cpus + name + "/cpufreq/cpuinfo_max_freq");
    if (frequency && (!highest || *frequency > *highest)) highest = frequency;
  }
  return highest;
}

// Intel writes the base clock into the model name: "Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz".
std::optional<double> frequency_in_name(const std::string& model) {
  const auto at = model.find("@ ");
  if (at == std::string::npos || !model.ends_with("GHz")) return std::nullopt;
  const auto gigahertz = leading_number(model.substr(at + 2));
  return gigahertz ? std::optional(*gigahertz * kHertzPerGigahertz) : std::nullopt;
}

std::optional<int> integer_field(const std::string& cpuinfo, const std::string& key) {
  constexpr double kMax = 1 << 16;
  const auto number = leading_number(field(cpuinfo, key).value_or(""));
  const bool is_possible = number && *number >= 0 && *number <= kMax;
  return is_possible ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<bool> read_turbo(const Root& root) {
  if (const auto off = root.number("/sys/devices/system/cpu/intel_pstate/no_turbo")) return *off == 0;
  if (const auto on = root.number("/sys/devices/system/cpu/cpufreq/boost")) return *on != 0;
  return std::nullopt;
}

std::string arm_model(const std::string& cpuinfo) {
  const auto implementer = field(cpuinfo, "CPU implementer");
  const auto part = field(cpuinfo, "CPU part");
  if (!implementer || !part) return "";
  // Arm's own cores, from the Main ID Register values in each core's technical reference manual.
  static const std::map<std::string, std::string> kArmParts = {
      {"0xd0c", "Neoverse-N1"}, {"0xd49", "Neoverse-N2"}, {"0xd8e", "Neoverse-N3"}, {"0xd40", "Neoverse-V1"},
      {"0xd4f", "Neoverse-V2"}, {"0xd84", "Neoverse-V3"}, {"0xd03", "Cortex-A53"},  {"0xd08", "Cortex-A72"}};
  const auto known = kArmParts.find(*part);
  if (*implementer == "0x41" && known != kArmParts.end()) return known->second;
  return fmt::format("implementer {} part {}", *implementer, *part);
}

// A recorded machine may have another architecture than this one.
std::string architecture(const Root& root, const std::string& cpuinfo) {
  if (root.is_this_machine()) return kArchitecture;
  return field(cpuinfo, "CPU implementer") ? "aarch64" : "x86_64";
}

}  // namespace

Cpu read_cpu(const Root& root) {
  const std::string info = root.text("/proc/cpuinfo").value_or("");
  Cpu cpu;
  cpu.architecture = architecture(root, info);
  cpu.vendor = field(info, "vendor_id").value_or(field(info, "CPU implementer") ? "ARM" : "");
  cpu.model = field(info, "model name").value_or(arm_model(info));
  cpu.family_number = integer_field(info, "cpu family");
  cpu.model_number = integer_field(info, "model");
  cpu.stepping = integer_field(info, "stepping");
  cpu.flags = split(field(info, "flags").value_or(field(info, "Features").value_or("")));
  if (const auto megahertz = leading_number(field(info, "cpu MHz").value_or(""))) {
    cpu.listed_frequency_hz = *megahertz * kHertzPerMegahertz;
  }
  cpu.base_frequency_hz = kilohertz(root, kCpufreq + "base_frequency");
  if (!cpu.base_frequency_hz) cpu.base_frequency_hz = frequency_in_name(cpu.model);
  cpu.maximum_frequency_hz = highest_frequency(root);
  cpu.governor = root.text(kCpufreq + "scaling_governor");
  cpu.turbo = read_turbo(root);
  if (const auto active = root.number("/sys/devices/system/cpu/smt/active")) cpu.smt = *active != 0;
  return cpu;
}

}  // namespace nameplate
