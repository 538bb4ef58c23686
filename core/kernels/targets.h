// Selects Highway's targets for a kernel's file. Include it before any Highway header, in a file that defines
// HWY_TARGET_INCLUDE and includes hwy/foreach_target.h.
#ifndef NAMEPLATE_KERNELS_TARGETS_H_
#define NAMEPLATE_KERNELS_TARGETS_H_

// The other targets add nothing to plain arithmetic. Without EMU128 and SSE2 the x86-64 baseline is Highway's scalar
// target, which is wanted here.
#define HWY_BROKEN_EMU128 1
#ifdef NAMEPLATE_HIGHWAY_HAS_SSE2
#define HWY_DISABLED_TARGETS (HWY_SSE2 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#else
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_AVX3_DL)
#endif

#include <hwy/detect_targets.h>

// X(isa, namespace) for every target that this file is compiled for.
#if HWY_ARCH_X86
#define NAMEPLATE_FOR_EACH_TARGET(X) X(scalar, N_SCALAR) X(sse2, N_SSSE3) X(avx2, N_AVX2) X(avx512, N_AVX3)
#elif HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_SVE)
#define NAMEPLATE_FOR_EACH_TARGET(X) X(neon, N_NEON) X(sve, N_SVE)
#elif HWY_ARCH_ARM_A64  // Highway 1.0 chooses at runtime among the targets of Arm only with g++
#define NAMEPLATE_FOR_EACH_TARGET(X) X(neon, N_NEON)
#else
#define NAMEPLATE_FOR_EACH_TARGET(X) X(scalar, N_SCALAR)
#endif

#endif  // NAMEPLATE_KERNELS_TARGETS_H_
