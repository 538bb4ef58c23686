#include "machine/cpuid.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace nameplate {

namespace {

std::optional<CpuidRegisters> ask_this_cpu([[maybe_unused]] std::uint32_t leaf,
                                           [[maybe_unused]] std::uint32_t subleaf) {
#ifdef __x86_64__
  constexpr std::uint32_t kHypervisorLeaves = 0x4000'0000;
  constexpr std::uint32_t kExtendedLeaves = 0x8000'0000;
  CpuidRegisters answer;
  if (leaf >= kHypervisorLeaves && leaf < kExtendedLeaves) {
    constexpr std::uint32_t kFeatures = 1;
    constexpr std::uint32_t kIsGuest = 1U << 31;
    const auto features = ask_this_cpu(kFeatures, 0);
    if (!features || (features->ecx & kIsGuest) == 0) return std::nullopt;
    __cpuid_count(leaf, subleaf, answer.eax, answer.ebx, answer.ecx, answer.edx);
    return answer;
  }
  if (__get_cpuid_count(leaf, subleaf, &answer.eax, &answer.ebx, &answer.ecx, &answer.edx) != 0) return answer;
#endif
  return std::nullopt;
}

// Lines such as "0x00000004 0x00: eax=0x7c004121 ebx=0x01c0003f ecx=0x0000003f edx=0x00000000".
Cpuid recorded(const std::string& text) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters> answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::uint32_t leaf = 0;
    std::uint32_t subleaf = 0;
    CpuidRegisters answer;
    const int n_fields = std::sscanf(line.c_str(), "%x %x: eax=%x ebx=%x ecx=%x edx=%x", &leaf, &subleaf, &answer.eax,
                                     &answer.ebx, &answer.ecx, &answer.edx);
    if (n_fields == 6) answers[{leaf, subleaf}] = answer;
  }
  return [answers](std::uint32_t leaf, std::uint32_t subleaf) {
    const auto answer = answers.find({leaf, subleaf});
    return answer == answers.end() ? std::nullopt : std::optional(answer->second);
  };
}

}  // namespace

Cpuid cpuid_of(const Root& root) {
  return root.is_this_machine() ? Cpuid(ask_this_cpu) : recorded(root.text("/recorded/cpuid").value_or(""));
}

}  // namespace nameplate
