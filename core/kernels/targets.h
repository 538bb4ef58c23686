// Selects Highway's targets for a kernel's file. Include it before any Highway header, in a file that defines
// HWY_TARGET_INCLUDE and includes hwy/foreach_target.h.
#ifndef NAMEPLATE_KERNELS_TARGETS_H_
#define NAMEPLATE_KERNELS_TARGETS_H_

// The other targets add nothing to plain arithmetic. Without EMU128 and SSE2 the x86-64 baseline is Highway's scalar
// target, which is wanted here. Highway 1.2 has another name for the baseline of Arm.
#define HWY_BROKEN_EMU128 1
#define HWY_DISABLED_TARGETS                                                                                  \
  (HWY_SSE2 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_SVE2 | HWY_SVE2_128 | HWY_SVE_256 | \
   HWY_NEON_BF16 | (HWY_NEON_WITHOUT_AES ? HWY_NEON : 0))

#include <hwy/detect_targets.h>

// A target that this version of Highway does not have is left out.
#ifndef HWY_SSE2
#define HWY_SSE2 0
#endif
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0
#endif
#ifndef HWY_AVX3_SPR
#define HWY_AVX3_SPR 0
#endif
#ifndef HWY_NEON_BF16
#define HWY_NEON_BF16 0
#endif
#ifndef HWY_NEON_WITHOUT_AES
#define HWY_NEON_WITHOUT_AES 0
#endif

// X(isa, namespace) for every target that this file is compiled for.
#if HWY_ARCH_X86
#define NAMEPLATE_TARGETS(X) X(scalar, N_SCALAR) X(sse2, N_SSSE3) X(avx2, N_AVX2) X(avx512, N_AVX3)
#elif HWY_ARCH_ARM_A64
#if HWY_NEON_WITHOUT_AES
#define NAMEPLATE_NEON N_NEON_WITHOUT_AES
#else
#define NAMEPLATE_NEON N_NEON
#endif
// Highway 1.0 chooses at runtime among the targets of Arm only with g++.
#if HWY_TARGETS & HWY_SVE
#define NAMEPLATE_TARGETS(X) X(neon, NAMEPLATE_NEON) X(sve, N_SVE)
#else
#define NAMEPLATE_TARGETS(X) X(neon, NAMEPLATE_NEON)
#endif
#else
#define NAMEPLATE_TARGETS(X) X(scalar, N_SCALAR)
#endif

#endif  // NAMEPLATE_KERNELS_TARGETS_H_
