#include "kernels/isa.h"

#include <algorithm>
#include <array>
#include <ranges>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace nameplate {

namespace {

constexpr std::array<const char*, 7> kNames = {"scalar", "sse2", "avx2", "avx512", "amx", "neon", "sve"};

#if defined(__x86_64__)

// A macro, since the builtin takes only a literal, and returns int with g++ and bool with clang.
#define NAMEPLATE_CPU_HAS(feature) static_cast<bool>(__builtin_cpu_supports(feature))

bool has_amx() {
  constexpr unsigned kLeaf = 7;
  constexpr unsigned kTileBf16AndInt8 = (1U << 22U) | (1U << 24U) | (1U << 25U);
  std::array<unsigned, 4> registers{};
  if (__get_cpuid_count(kLeaf, 0, &registers[0], &registers[1], &registers[2], &registers[3]) == 0) return false;
  return (registers[3] & kTileBf16AndInt8) == kTileBf16AndInt8;
}

// Linux grants the 8 KiB of tile state only on request (Documentation/arch/x86/xstate.rst).
bool may_use_amx() {
  constexpr long kArchReqXcompPerm = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kTileData) == 0;
}

std::optional<std::string> missing(bool present, const char* feature) {
  return present ? std::nullopt : std::optional("this CPU has no " + std::string(feature));
}

#endif

}  // namespace

std::string to_string(Isa isa) { return kNames.at(static_cast<std::size_t>(isa)); }

std::optional<Isa> parse_isa(std::string_view name) {
  const auto* const match = std::ranges::find(kNames, name);
  if (match == kNames.end()) return std::nullopt;
  return static_cast<Isa>(match - kNames.begin());
}

Isa widest_isa(const std::function<bool(Isa)>& has_kernels) {
  const auto from_widest = std::views::reverse(compiled_isas());
  const auto match = std::ranges::find_if(from_widest, [&](Isa isa) { return !why_not(isa) && has_kernels(isa); });
  return match == from_widest.end() ? Isa::scalar : *match;
}

Isa widest_vector_isa() { return vector_isas().back(); }

std::vector<Isa> vector_isas() {
  std::vector<Isa> result;
  for (const Isa isa : compiled_isas()) {
    if (isa != Isa::scalar && isa != Isa::amx && !why_not(isa)) result.push_back(isa);
  }
  return result.empty() ? std::vector{Isa::scalar} : result;
}

#if defined(__x86_64__)

const std::vector<Isa>& compiled_isas() {
#if defined(NAMEPLATE_WITHOUT_AVX512)  // for bench/limits/limits.py: the kernels of AVX2 on any processor
  static const std::vector<Isa> kIsas = {Isa::scalar, Isa::sse2, Isa::avx2};
#else
  static const std::vector<Isa> kIsas = {Isa::scalar, Isa::sse2, Isa::avx2, Isa::avx512, Isa::amx};
#endif
  return kIsas;
}

std::optional<std::string> why_not(Isa isa) {
  switch (isa) {
    case Isa::scalar: return std::nullopt;
    // Highway's narrowest x86 target is compiled with SSSE3, although the kernels need only SSE2.
    case Isa::sse2: return missing(NAMEPLATE_CPU_HAS("ssse3"), "SSSE3 (which the sse2 kernels are built with)");
    case Isa::avx2: return missing(NAMEPLATE_CPU_HAS("avx2") && NAMEPLATE_CPU_HAS("fma"), "AVX2 with FMA");
    case Isa::avx512:
      return missing(NAMEPLATE_CPU_HAS("avx512f") && NAMEPLATE_CPU_HAS("avx512vl") && NAMEPLATE_CPU_HAS("avx512dq") &&
                         NAMEPLATE_CPU_HAS("avx512bw"),
                     "AVX-512 (F, VL, DQ and BW)");
    case Isa::amx:
      if (!has_amx()) return "this CPU has no AMX (TILE, BF16 and INT8)";
      return may_use_amx() ? std::nullopt : std::optional<std::string>("the kernel does not grant AMX tile state");
    default: return "this nameplate-core is built for x86-64";
  }
}

#elif defined(__aarch64__)

const std::vector<Isa>& compiled_isas() {
  static const std::vector<Isa> kIsas = {Isa::neon, Isa::sve};
  return kIsas;
}

std::optional<std::string> why_not(Isa isa) {
  constexpr unsigned long kSve = 1UL << 22U;
  if (isa == Isa::neon) return std::nullopt;
  if (isa != Isa::sve) return "this nameplate-core is built for aarch64";
  return (getauxval(AT_HWCAP) & kSve) != 0 ? std::nullopt : std::optional<std::string>("this CPU has no SVE");
}

#else

const std::vector<Isa>& compiled_isas() {
  static const std::vector<Isa> kIsas = {Isa::scalar};
  return kIsas;
}

std::optional<std::string> why_not(Isa isa) {
  if (isa == Isa::scalar) return std::nullopt;
  return "this nameplate-core has only scalar kernels";
}

#endif

}  // namespace nameplate
