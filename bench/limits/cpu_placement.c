/* Ten times a second: the round trip of a cache line between CPU 0 and CPU 1, and the triad of both.
   Argument: SECONDS. Prints lines of: time in s, round trip in s, bandwidth in B/s. x86-64 only. */
#define _GNU_SOURCE
#include <emmintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { TRIPS = 200, BATCHES = 20, PASSES = 6, CHUNK = 1 << 18, HUGE_PAGE = 2 << 20 };
#define ELEMENTS ((size_t)1 << 23) /* of each thread, 64 MiB */

/* The next task of the other thread, which adds one to `done` after each. */
enum { PING_PONG, TRIAD, STOP };

static double *arrays[3];
static _Alignas(128) atomic_int line;
static _Alignas(128) atomic_int requested;
static _Alignas(128) atomic_int task;
static _Alignas(128) atomic_int done;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) exit(1);
}

static double *allocate(void) {
  const size_t bytes = 2 * ELEMENTS * sizeof(double);
  char *at = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) exit(1);
  at += (HUGE_PAGE - (size_t)at % HUGE_PAGE) % HUGE_PAGE;
  madvise(at, bytes, MADV_HUGEPAGE);
  return (double *)at;
}

static void fill(size_t thread) {
  for (size_t i = thread * ELEMENTS; i < (thread + 1) * ELEMENTS; ++i)
    for (int array = 0; array < 3; ++array) arrays[array][i] = array + 1;
}

static void triad(size_t thread, int step) {
  const size_t first = thread * ELEMENTS + (size_t)step * CHUNK % ELEMENTS;
  const __m128d scalar = _mm_set1_pd(3);
  for (size_t i = first; i < first + CHUNK; i += 2) {
    const __m128d product = _mm_mul_pd(_mm_load_pd(arrays[2] + i), scalar);
    _mm_stream_pd(arrays[0] + i, _mm_add_pd(_mm_load_pd(arrays[1] + i), product));
  }
  _mm_sfence();
}

static void answer(void) {
  for (int trip = 0; trip < TRIPS * BATCHES; ++trip) {
    while (atomic_load_explicit(&line, memory_order_acquire) != 2 * trip + 1) continue;
    atomic_store_explicit(&line, 2 * trip + 2, memory_order_release);
  }
}

static void *other_thread(void *unused) {
  pin_to(1);
  fill(1);
  atomic_store(&done, 1);
  for (int number = 2, step = 0;; ++number) {
    while (atomic_load(&requested) != number) continue;
    if (task == STOP) return unused;
    if (task == PING_PONG) answer();
    if (task == TRIAD) triad(1, step++);
    atomic_store(&done, number);
  }
}

static int number = 1;

static void start(int next_task) {
  atomic_store(&task, next_task);
  atomic_store(&requested, ++number);
}

static void wait_for_other(void) {
  while (atomic_load(&done) != number) continue;
}

/* The fastest batch, since another program may have run in the others. */
static double round_trip_s(void) {
  double best_s = 1;
  atomic_store(&line, 0);
  start(PING_PONG);
  for (int batch = 0; batch < BATCHES; ++batch) {
    const double start_s = now_s();
    for (int trip = batch * TRIPS; trip < (batch + 1) * TRIPS; ++trip) {
      atomic_store_explicit(&line, 2 * trip + 1, memory_order_release);
      while (atomic_load_explicit(&line, memory_order_acquire) != 2 * trip + 2) continue;
    }
    const double elapsed_s = now_s() - start_s;
    if (elapsed_s < best_s) best_s = elapsed_s;
  }
  wait_for_other();
  return best_s / TRIPS;
}

static double bandwidth(void) {
  static int step;
  double best = 0;
  for (int pass = 0; pass < PASSES; ++pass) {
    const double start_s = now_s();
    start(TRIAD);
    triad(0, step++);
    wait_for_other();
    const double rate = 2.0 * 3 * CHUNK * sizeof(double) / (now_s() - start_s);
    if (rate > best) best = rate;
  }
  return best;
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 10;
  const struct timespec pause = {.tv_nsec = 100000000};
  pthread_t other;
  for (int array = 0; array < 3; ++array) arrays[array] = allocate();
  pin_to(0);
  if (pthread_create(&other, NULL, other_thread, NULL) != 0) return 1;
  fill(0);
  wait_for_other();
  for (const double start_s = now_s(); now_s() - start_s < seconds; nanosleep(&pause, NULL)) {
    const double trip_s = round_trip_s();
    printf("%.3f %.4g %.4g\n", now_s() - start_s, trip_s, bandwidth());
  }
  start(STOP);
  pthread_join(other, NULL);
  return 0;
}
