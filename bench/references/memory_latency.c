/* A plain pointer chase. Arguments: SIZE_BYTES huge|small SECONDS. Prints the median seconds per load. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20, SAMPLES = 1000 };

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The permutation of core/kernels/permutation.h, written independently. */
static uint64_t hash(uint64_t v) {
  v = (v + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  return (v ^ (v >> 32)) * 0x94D049BB133111EBU >> 24;
}

static size_t permuted(size_t index, size_t count) {
  unsigned bits = 64 - (unsigned)__builtin_clzl(count - 1);
  do {
    unsigned right_bits = bits / 2, left_bits = bits - right_bits;
    uint64_t left = index >> right_bits, right = index & ((1UL << right_bits) - 1);
    for (uint64_t round = 0; round < 4; ++round) {
      uint64_t mixed = (left ^ hash(right + (round << 48))) & ((1UL << left_bits) - 1);
      left = right;
      right = mixed;
      unsigned swap = left_bits;
      left_bits = right_bits;
      right_bits = swap;
    }
    index = left << right_bits | right;
  } while (index >= count);
  return index;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  size_t size = strtoull(argv[1], NULL, 10), lines = size / LINE;
  int huge = strcmp(argv[2], "huge") == 0;
  double seconds = atof(argv[3]);
  char* raw = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return 1;
  char* memory = (char*)(((uintptr_t)raw + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
  madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  memset(memory, 1, size);
  for (size_t i = 0; i < lines; ++i)
    *(void**)(memory + permuted(i, lines) * LINE) = memory + permuted(i + 1 < lines ? i + 1 : 0, lines) * LINE;
  void** at = (void**)(memory + permuted(0, lines) * LINE);
  static double sample_s[SAMPLES];
  int samples = 0;
  uint64_t loads = 1 << 14;
  for (double end = now_s() + seconds; now_s() < end && samples < SAMPLES;) {
    double start = now_s();
    for (uint64_t i = 0; i < loads; i += 8) {
      at = *at;
      at = *at;
      at = *at;
      at = *at;
      at = *at;
      at = *at;
      at = *at;
      at = *at;
    }
    double elapsed = now_s() - start;
    if (elapsed < 10e-3)
      loads *= 2;
    else
      sample_s[samples++] = elapsed / (double)loads;
  }
  fprintf(stderr, "%p\n", (void*)at);
  qsort(sample_s, (size_t)samples, sizeof *sample_s, ascending);
  printf("%.6e\n", sample_s[samples / 2]);
  return 0;
}
