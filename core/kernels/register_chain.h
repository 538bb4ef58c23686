// A chain of dependent register-to-register additions. Each takes one clock cycle on every CPU of the last twenty
// years, so its length divided by its time is the clock at which the core really runs.
//
// The operands are registers, since newer cores (Golden Cove, Zen 5) execute additions of an immediate at rename and
// would show two or three times their clock.
#pragma once

#include <cstdint>

namespace nameplate {

inline constexpr std::uint64_t kChainUnroll = 64;

// Runs `turns` × kChainUnroll dependent additions, which take as many cycles.
inline void register_chain(std::uint64_t turns) {
  std::uint64_t sum = 1;
  std::uint64_t step = 3;
#if defined(__x86_64__)
  asm volatile(
      ".p2align 4\n"
      "1:\n\t"
      ".rept 64\n\t"
      "add %[step], %[sum]\n\t"
      ".endr\n\t"
      "dec %[turns]\n\t"
      "jnz 1b"
      : [sum] "+r"(sum), [turns] "+r"(turns)
      : [step] "r"(step)
      : "cc");
#elif defined(__aarch64__)
  asm volatile(
      ".p2align 4\n"
      "1:\n\t"
      ".rept 64\n\t"
      "add %[sum], %[sum], %[step]\n\t"
      ".endr\n\t"
      "subs %[turns], %[turns], #1\n\t"
      "b.ne 1b"
      : [sum] "+r"(sum), [turns] "+r"(turns)
      : [step] "r"(step)
      : "cc");
#else
  for (std::uint64_t i = 0; i < turns * kChainUnroll; ++i) asm volatile("" : "+r"(sum = sum + step));
#endif
}

}  // namespace nameplate
