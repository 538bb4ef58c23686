// A LAPACK (netlib.org/lapack) and the BLAS under it: loaded when it is wanted, so that the program runs without.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/shared_library.h"

namespace nameplate {

// An INTEGER of Fortran's as LAPACK is handed it. Most libraries take 32 bits, some 64: on a little-endian machine a
// number that fits into 32 bits is read rightly by both.
using LapackInteger = std::int64_t;

class Lapack {
 public:
  // Loads the library of this name or path, or the first of the usual ones for an empty one. Throws ProbeError(failed)
  // for a named one that cannot be loaded or does not solve linear equations, ProbeError(skipped) where none is usual.
  explicit Lapack(const std::string& library = "");

  // Its file's name, without the place.
  std::string name() const;

  // Asks it to compute with so many threads, and returns how many it will take: 1 where it offers no way to ask.
  int set_threads(int threads) const;

  // In words: "blas" is OpenBLAS with its version, or the file's name; "blas_config" what the library says of its
  // version and build, "blas_core" the core it has its kernels for, "blas_threading" whether its threads are its own
  // (pthreads), OpenMP's or none. All but the first where it says so.
  std::map<std::string, std::string> labels() const;

  // Solves Ax = b for n unknowns by LU with partial pivoting (dgesv). A's columns are `lda` elements apart; its factors
  // take its place, x that of b. Returns dgesv's INFO: 0 where that went well.
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
