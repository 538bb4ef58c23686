// A LAPACK for tests, selected with --blas: solves by Gaussian elimination in one thread and cannot use more threads.
//   NAMEPLATE_FAULT = singular: reports a zero pivot; wrong: spoils one unknown; nan: returns NaN;
//   crash: ends the process as an instruction does that the processor does not have;
//   affinity: reports, in place of a zero pivot, the smallest number of CPUs on which a new thread could have run
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int g_cpus_at_load;

static int count_cpus(void) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof(allowed), &allowed);
  return CPU_COUNT(&allowed);
}

__attribute__((constructor)) static void note_cpus(void) { g_cpus_at_load = count_cpus(); }

static int has_fault(const char* name) {
  const char* fault = getenv("NAMEPLATE_FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

static void swap(double* one, double* other) {
  const double previous = *one;
  *one = *other;
  *other = previous;
}

static int largest_below(const double* column, int from, int n) {
  int largest = from;
  for (int row = from; row < n; ++row) {
    if (fabs(column[row]) > fabs(column[largest])) largest = row;
  }
  return largest;
}

static void eliminate(int n, double* a, int lda, double* b) {
  for (int k = 0; k < n; ++k) {
    const int pivot = largest_below(a + k * lda, k, n);
    for (int column = k; column < n; ++column) swap(&a[k + column * lda], &a[pivot + column * lda]);
    swap(&b[k], &b[pivot]);
    for (int row = k + 1; row < n; ++row) {
      const double factor = a[row + k * lda] / a[k + k * lda];
      for (int column = k; column < n; ++column) a[row + column * lda] -= factor * a[k + column * lda];
      b[row] -= factor * b[k];
    }
  }
}

void dgesv_(const int* n, const int* right_sides, double* a, const int* lda, int* pivots, double* b, const int* ldb,
            int* info) {
  (void)right_sides, (void)pivots, (void)ldb;
  if (has_fault("crash")) raise(SIGILL);
  eliminate(*n, a, *lda, b);
  for (int k = *n - 1; k >= 0; --k) {
    for (int column = k + 1; column < *n; ++column) b[k] -= a[k + column * *lda] * b[column];
    b[k] /= a[k + k * *lda];
  }
  *info = has_fault("singular") ? 1 : 0;
  if (has_fault("affinity")) *info = count_cpus() < g_cpus_at_load ? count_cpus() : g_cpus_at_load;
  if (has_fault("wrong")) b[0] += 0.25;
  if (has_fault("nan")) b[*n - 1] = NAN;
}
