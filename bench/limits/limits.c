/* Ceilings of kernels, by loops that do nothing but move data or call the system. x86-64.
   Arguments: KIND BYTES THREADS SECONDS. KIND is read, write, copy or triad (one load, one store, both, or two loads
   and a store for each vector, without arithmetic) with the width of a vector, such as read256 or triad512; nt-write256
   and so on store past the caches; xor256 and xor512 combine what they load; "getppid" calls the system; "handover"
   copies blocks of BYTES into a buffer on one thread and out of it on another, at the same time. BYTES are those of an
   array, divided among the threads. Prints what one in twenty samples of at least 1 ms reaches: bytes or calls per
   second, of all threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64, MAX_SAMPLES = 100000, HUGE_PAGE = 2 << 20, UNROLLED = 8, SKEW = 4 * 64 };

typedef struct {
  char* read; /* the arrays of a thread */
  char* also;
  char* written;
  size_t bytes; /* of each array */
} Part;

/* Passes over the arrays, in steps of UNROLLED vectors of W bytes. */
#define LOAD(R, P, I, W) "vmovups " #I "*" #W "(%" P ",%3), %%" R #I "\n\t"
#define STORE(MOVE, R, P, I, W) MOVE " %%" R #I ", " #I "*" #W "(%" P ",%3)\n\t"
#define EIGHT(X, ...)                                                                     \
  X(__VA_ARGS__, 0) X(__VA_ARGS__, 1) X(__VA_ARGS__, 2) X(__VA_ARGS__, 3) X(__VA_ARGS__, 4) \
  X(__VA_ARGS__, 5) X(__VA_ARGS__, 6) X(__VA_ARGS__, 7)
#define LOAD_A(R, W, I) LOAD(R, "0", I, W)
#define LOAD_B(R, W, I) LOAD(R, "1", I, W)
#define STORE_C(R, W, I) STORE("vmovups", R, "2", I, W)
#define STREAM_C(R, W, I) STORE("vmovntps", R, "2", I, W)
/* The loads of two vectors, combined by exclusive or with as few instructions as the width has. */
#define XOR(R, W, I) "vpxor " #I "*" #W "(%0,%3), %%" R #I ", %%" R #I "\n\t"
#define XOR_OF_THREE(R, I, J, W) \
  LOAD(R, "0", I, W) "vpternlogq $0x96, " #J "*" #W "(%0,%3), %%" R #I ", %%" R #J "\n\t"
#define XOR_PAIRS(R, W) \
  XOR_OF_THREE(R, 0, 1, W) XOR_OF_THREE(R, 2, 3, W) XOR_OF_THREE(R, 4, 5, W) XOR_OF_THREE(R, 6, 7, W)
/* Stored values must not be 0: AMD's Zen 5 writes lines of zeros to memory twice as fast. */
#define FILL_ALIKE(R, I) "vmovups (%0), %%" R #I "\n\t"
/* All arrays have the same offset, which is all that is added to. */
#define PASS(NAME, R, W, BODY)                                                                            \
  static void NAME(const Part* given, size_t passes) {                                                    \
    const Part part = *given;                                                                             \
    __asm__ volatile(EIGHT(FILL_ALIKE, R)                                                                 \
                     :                                                                                    \
                     : "r"(part.read)                                                                     \
                     : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");         \
    for (size_t pass = 0; pass < passes; ++pass) {                                                        \
      for (size_t at = 0; at + UNROLLED * W <= part.bytes; at += UNROLLED * W) {                          \
        __asm__ volatile(BODY                                                                             \
                         :                                                                                \
                         : "r"(part.read), "r"(part.also), "r"(part.written), "r"(at)                     \
                         : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");     \
      }                                                                                                   \
    }                                                                                                     \
    __asm__ volatile("vzeroupper");                                                                       \
  }
#define PASSES(R, BITS, W)                                                            \
  PASS(read##BITS, R, W, EIGHT(LOAD_A, R, W))                                         \
  PASS(write##BITS, R, W, EIGHT(STORE_C, R, W))                                       \
  PASS(copy##BITS, R, W, EIGHT(LOAD_A, R, W) EIGHT(STORE_C, R, W))                    \
  PASS(triad##BITS, R, W, EIGHT(LOAD_A, R, W) EIGHT(LOAD_B, R, W) EIGHT(STORE_C, R, W)) \
  PASS(nt_write##BITS, R, W, EIGHT(STREAM_C, R, W))                                   \
  PASS(nt_copy##BITS, R, W, EIGHT(LOAD_A, R, W) EIGHT(STREAM_C, R, W))                \
  PASS(nt_triad##BITS, R, W, EIGHT(LOAD_A, R, W) EIGHT(LOAD_B, R, W) EIGHT(STREAM_C, R, W))
PASSES("ymm", 256, 32)
PASSES("zmm", 512, 64)
PASS(xor256, "ymm", 32, EIGHT(XOR, "ymm", 32))
PASS(xor512, "zmm", 64, XOR_PAIRS("zmm", 64))

static void getppid_pass(const Part* part, size_t calls) {
  (void)part;
  for (size_t call = 0; call < calls; ++call) syscall(SYS_getppid);
}

typedef struct {
  const char* name;
  void (*pass)(const Part*, size_t passes);
  size_t moved; /* arrays that a pass reads or writes; 0: a pass is a call */
} Kind;

#define KINDS(BITS)                                                                                             \
  {"read" #BITS, read##BITS, 1}, {"write" #BITS, write##BITS, 1}, {"copy" #BITS, copy##BITS, 2},                \
      {"triad" #BITS, triad##BITS, 3}, {"xor" #BITS, xor##BITS, 1}, {"nt-write" #BITS, nt_write##BITS, 1},        \
      {"nt-copy" #BITS, nt_copy##BITS, 2}, {"nt-triad" #BITS, nt_triad##BITS, 3}
static const Kind kinds[] = {KINDS(256), KINDS(512), {"getppid", getppid_pass, 0}};

static const Kind* kind;
static size_t bytes, threads;
static double seconds;
static pthread_barrier_t barrier;
static double begun_s[MAX_THREADS], finished_s[MAX_THREADS];
static size_t passes = 1;
static double end_s;
static int is_over;
static double rates[MAX_SAMPLES];
static size_t n_rates;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void keep(double rate) {
  if (n_rates < MAX_SAMPLES) rates[n_rates++] = rate;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static char* allocate(size_t size) {
  size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  char* at = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) exit(1);
  at += (HUGE_PAGE - (size_t)at % HUGE_PAGE) % HUGE_PAGE;
  madvise(at, size, MADV_HUGEPAGE);
  memset(at, 1, size);
  return at;
}

static void pin_to(size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) exit(1);
}

/* By the first thread, while the others wait: doubles the passes until a sample lasts 1 ms. */
static void take_sample(size_t part_bytes) {
  double first_s = begun_s[0], last_s = finished_s[0];
  for (size_t i = 1; i < threads; ++i) {
    first_s = begun_s[i] < first_s ? begun_s[i] : first_s;
    last_s = finished_s[i] > last_s ? finished_s[i] : last_s;
  }
  if (last_s - first_s < 1e-3) {
    passes *= 2;
  } else {
    keep((double)(passes * threads * (kind->moved ? part_bytes * kind->moved : 1)) / (last_s - first_s));
  }
  is_over = last_s > end_s;
}

static void* work(void* argument) {
  const size_t thread = (size_t)argument;
  pin_to(thread);
  const size_t part_bytes = bytes / threads / 512 * 512;
  /* Stores and loads at equal offsets in a page would be taken for dependent ones. */
  Part part = {.bytes = part_bytes, .read = allocate(part_bytes)};
  if (kind->moved > 1 || strstr(kind->name, "write")) part.written = allocate(part_bytes + SKEW) + SKEW;
  if (kind->moved > 2) part.also = allocate(part_bytes + 2 * SKEW) + 2 * SKEW;
  pthread_barrier_wait(&barrier);
  if (thread == 0) end_s = now_s() + seconds;
  do {
    pthread_barrier_wait(&barrier);
    begun_s[thread] = now_s();
    kind->pass(&part, passes);
    finished_s[thread] = now_s();
    pthread_barrier_wait(&barrier);
    if (thread == 0) take_sample(part_bytes);
    pthread_barrier_wait(&barrier);
  } while (!is_over);
  return NULL;
}

/* The floor of a transfer over the loopback: one copy by the sender, one by the receiver, through a ring of 1 MiB or
   four blocks. */
static char* ring;
static size_t slots;
static _Alignas(128) atomic_size_t filled;
static _Alignas(128) atomic_size_t emptied;

_Noreturn static void* receive(void* unused) {
  (void)unused;
  pin_to(1);
  char* block = allocate(bytes);
  size_t seen = 0;
  for (size_t received = 0;; ++received) {
    while (seen == received) seen = atomic_load_explicit(&filled, memory_order_acquire);
    memcpy(block, ring + received % slots * bytes, bytes);
    atomic_store_explicit(&emptied, received + 1, memory_order_release);
  }
}

static void hand_over(void) {
  slots = (1 << 20) / bytes > 4 ? (1 << 20) / bytes : 4;
  ring = allocate(slots * bytes);
  char* block = allocate(bytes);
  pthread_t receiver;
  pin_to(0);
  pthread_create(&receiver, NULL, receive, NULL);
  const double until_s = now_s() + seconds;
  const size_t batch = (8 << 20) / bytes + 1;
  size_t freed = 0;
  for (size_t sent = 0; now_s() < until_s;) {
    const double start_s = now_s();
    for (size_t i = 0; i < batch; ++i, ++sent) {
      while (sent - freed == slots) freed = atomic_load_explicit(&emptied, memory_order_acquire);
      memcpy(ring + sent % slots * bytes, block, bytes);
      atomic_store_explicit(&filled, sent + 1, memory_order_release);
    }
    keep((double)(batch * bytes) / (now_s() - start_s));
  }
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  bytes = strtoull(argv[2], NULL, 10);
  threads = strtoull(argv[3], NULL, 10);
  seconds = atof(argv[4]);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(argv[1], kinds[i].name) == 0) kind = &kinds[i];
  }
  if (strcmp(argv[1], "handover") == 0) {
    hand_over();
  } else if (kind == NULL || threads == 0 || threads > MAX_THREADS) {
    return 2;
  } else {
    pthread_t workers[MAX_THREADS];
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (size_t i = 1; i < threads; ++i) pthread_create(&workers[i], NULL, work, (void*)i);
    work(NULL);
    for (size_t i = 1; i < threads; ++i) pthread_join(workers[i], NULL);
  }
  if (n_rates == 0) return 1;
  qsort(rates, n_rates, sizeof *rates, ascending);
  printf("%.6g\n", rates[n_rates * 19 / 20]);
  return 0;
}
