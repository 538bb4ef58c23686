#include "kernels/wide_chain.h"

#include "kernels/register_chain.h"

namespace nameplate {

#if defined(__x86_64__)

// A multiplication takes three cycles on all CPUs with AVX-512 (uops.info: Skylake-X to Emerald Rapids, Zen 4, Zen 5).
// Its unit shares no port with those of the vectors, which could delay an addition. The vectors are a third of what one
// unit can execute, and their values stay 0. Registers 16 to 31 need no transition to SSE; not inlined, since a
// caller's compiler does not know that they are used.
__attribute__((noinline)) void wide_chain(std::uint64_t turns) {
  if (turns == 0) return;
  std::uint64_t product = 1;
  std::uint64_t factor = 3;
  asm volatile(
      "vpxorq %%zmm31, %%zmm31, %%zmm31\n\t"
      ".irp vector, 16, 17, 18, 19, 20, 21, 22\n\t"
      "vpxorq %%zmm\\vector, %%zmm\\vector, %%zmm\\vector\n\t"
      ".endr\n"
      ".p2align 4\n"
      "1:\n\t"
      ".rept 3\n\t"
      ".irp vector, 16, 17, 18, 19, 20, 21, 22\n\t"
      "imul %[factor], %[product]\n\t"
      "vfmadd231pd %%zmm31, %%zmm31, %%zmm\\vector\n\t"
      ".endr\n\t"
      ".endr\n\t"
      "add %[factor], %[product]\n\t"
      "dec %[turns]\n\t"
      "jnz 1b"
      : [product] "+r"(product), [turns] "+r"(turns)
      : [factor] "r"(factor)
      : "cc");
}

#else

void wide_chain(std::uint64_t turns) { register_chain(turns); }

#endif

}  // namespace nameplate
