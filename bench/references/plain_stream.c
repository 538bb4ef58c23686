/* STREAM's four loops on one thread, in plain C, as a reference for memory_stream: no package has STREAM itself.

   Arguments: elements of 8 bytes in each of the three arrays, and passes. Prints the best rate of each loop,
   and the average, least and greatest time of its passes. As in STREAM, the first pass does not count, MB are 10^6
   bytes, and the bytes of an allocation on write are not counted. Exits with 1 if the arrays do not have the values
   that the loops must give. script/bootstrap bench builds it as .venv/bin/plain-stream. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Each pass multiplies the elements by 15, and a double ends at 15^262. */
enum { MAX_PASSES = 200 };
enum { COPY, SCALE, ADD, TRIAD, LOOPS };

static const char* const names[LOOPS] = {"copy", "scale", "add", "triad"};
static const int arrays_moved[LOOPS] = {2, 2, 3, 3};
static const double factor = 3.0;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run_loop(int loop, double* restrict a, double* restrict b, double* restrict c, long elements) {
  switch (loop) {
    case COPY:
      for (long i = 0; i < elements; ++i) c[i] = a[i];
      break;
    case SCALE:
      for (long i = 0; i < elements; ++i) b[i] = factor * c[i];
      break;
    case ADD:
      for (long i = 0; i < elements; ++i) c[i] = a[i] + b[i];
      break;
    default:
      for (long i = 0; i < elements; ++i) a[i] = b[i] + factor * c[i];
  }
}

static int all_equal(const double* array, long elements, double value) {
  for (long i = 0; i < elements; ++i) {
    if (fabs(array[i] - value) > 1e-12 * fabs(value)) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  const long elements = argc == 3 ? atol(argv[1]) : 0;
  const int passes = argc == 3 ? atoi(argv[2]) : 0;
  if (elements < 1 || passes < 2 || passes > MAX_PASSES) {
    fprintf(stderr, "plain-stream 1: use plain-stream ELEMENTS PASSES, with 1 element or more and 2 to %d passes\n",
            MAX_PASSES);
    return 2;
  }
  const size_t array_bytes = (size_t)elements * sizeof(double);
  double* a = malloc(array_bytes);
  double* b = malloc(array_bytes);
  double* c = malloc(array_bytes);
  if (!a || !b || !c) {
    fprintf(stderr, "plain-stream 1: no memory for three arrays of %zu bytes\n", array_bytes);
    return 1;
  }
  for (long i = 0; i < elements; ++i) {
    a[i] = 1.0;
    b[i] = 2.0;
    c[i] = 0.0;
  }
  double least_s[LOOPS], greatest_s[LOOPS] = {0}, total_s[LOOPS] = {0};
  for (int loop = 0; loop < LOOPS; ++loop) least_s[loop] = INFINITY;
  /* The value of every element of an array after the passes. */
  double must_be_a = 1.0, must_be_b = 2.0, must_be_c = 0.0;
  for (int pass = 0; pass < passes; ++pass) {
    for (int loop = 0; loop < LOOPS; ++loop) {
      const double start_s = now_s();
      run_loop(loop, a, b, c, elements);
      const double took_s = now_s() - start_s;
      if (pass == 0) continue;
      total_s[loop] += took_s;
      if (took_s < least_s[loop]) least_s[loop] = took_s;
      if (took_s > greatest_s[loop]) greatest_s[loop] = took_s;
    }
    must_be_c = must_be_a;
    must_be_b = factor * must_be_c;
    must_be_c = must_be_a + must_be_b;
    must_be_a = must_be_b + factor * must_be_c;
  }
  if (!all_equal(a, elements, must_be_a) || !all_equal(b, elements, must_be_b) || !all_equal(c, elements, must_be_c)) {
    fprintf(stderr, "plain-stream 1: the arrays do not have the values that the loops must give\n");
    return 1;
  }
  printf("plain-stream 1: %ld elements of 8 bytes, %d passes of which the first does not count, 1 thread\n", elements,
         passes);
  printf("%-6s %12s %13s %13s %13s\n", "loop", "best MB/s", "average s", "least s", "greatest s");
  for (int loop = 0; loop < LOOPS; ++loop) {
    const double moved = (double)array_bytes * arrays_moved[loop];
    printf("%-6s %12.1f %13.9f %13.9f %13.9f\n", names[loop], moved / least_s[loop] / 1e6, total_s[loop] / (passes - 1),
           least_s[loop], greatest_s[loop]);
  }
  free(a);
  free(b);
  free(c);
  return 0;
}
