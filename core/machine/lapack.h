// A LAPACK (netlib.org/lapack) and its BLAS: loaded on demand, so that the program runs without.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/shared_library.h"

namespace nameplate {

// A Fortran INTEGER as passed to LAPACK. Most libraries take 32 bits, some 64; on a little-endian machine both read a
// number that fits 32 bits correctly.
using LapackInteger = std::int64_t;

class Lapack {
 public:
  // Loads the library of this name or path, or for an empty one the first of the usual ones. Throws ProbeError(failed)
  // if a named library cannot be loaded or does not solve linear equations, ProbeError(skipped) if there is no usual
  // one.
  explicit Lapack(const std::string& library = "");

  // Returns the library's file name, without its directory.
  std::string name() const;

  // Requests a number of threads, and returns how many the library will use: 1 if it offers no way to ask.
  int set_threads(int threads) const;

  // Returns "blas", OpenBLAS with its version or the file's name, and as far as the library reports them:
  // "blas_config", its version and build; "blas_core", the core that its kernels are for; and "blas_threading", whether
  // its threads are its own (pthreads), OpenMP's or none.
  std::map<std::string, std::string> labels() const;

  // Solves Ax = b for n unknowns by LU with partial pivoting (dgesv). A's columns are `lda` elements apart. A is
  // overwritten by its factors and b by x. Returns dgesv's INFO: 0 on success.
  std::int64_t solve(std::int64_t n, double* a, std::int64_t lda, LapackInteger* pivots, double* b) const;

 private:
  using Dgesv = void(const LapackInteger* n, const LapackInteger* right_sides, double* a, const LapackInteger* lda,
                     LapackInteger* pivots, double* b, const LapackInteger* ldb, LapackInteger* info);
  using SetThreads = void(int);
  using GetThreads = int();

  SharedLibrary library_;
  Dgesv* dgesv_ = nullptr;
  SetThreads* set_threads_ = nullptr;
  GetThreads* get_threads_ = nullptr;
};

}  // namespace nameplate
