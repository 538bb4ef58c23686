#include "machine/lapack.h"

#include <gtest/gtest.h>

#include <array>

#include "probe/error.h"

namespace nameplate {
namespace {

TEST(Lapack, SolvesAndLeavesTheFactors) {
  const Lapack lapack;
  std::array<double, 6> a = {0, 2, -1, 4, 4, -1};  // two columns with a leading dimension of 3
  std::array<double, 2> b = {8, 10};
  std::array<LapackInteger, 2> pivots{};
  EXPECT_EQ(lapack.solve(2, a.data(), 3, pivots.data(), b.data()), 0);
  EXPECT_DOUBLE_EQ(b[0], 1);
  EXPECT_DOUBLE_EQ(b[1], 2);
  EXPECT_EQ(a[2], -1);
  EXPECT_EQ(a[0], 2);  // the larger pivot
}

TEST(Lapack, ReportsTheZeroPivot) {
  const Lapack lapack;
  std::array<double, 4> a = {1, 1, 1, 1};
  std::array<double, 2> b = {1, 1};
  std::array<LapackInteger, 2> pivots{};
  EXPECT_EQ(lapack.solve(2, a.data(), 2, pivots.data(), b.data()), 2);
}

TEST(Lapack, UsesTheGivenThreadsAndReportsItsVersion) {
  const Lapack lapack;
  EXPECT_EQ(lapack.set_threads(1), 1);
  EXPECT_EQ(lapack.set_threads(2), 2);
  EXPECT_TRUE(lapack.labels().at("blas").starts_with("OpenBLAS 0."));
  EXPECT_EQ(lapack.labels().at("blas").find(' ', 9), std::string::npos);
  EXPECT_TRUE(lapack.labels().at("blas_config").starts_with(lapack.labels().at("blas") + " "));
  EXPECT_FALSE(lapack.labels().at("blas_core").empty());
  EXPECT_EQ(lapack.labels().at("blas_threading"), "pthreads");
}

TEST(Lapack, CanBeLoadedAgainAndAgain) {
  constexpr int kTimes = 10;
  for (int time = 0; time < kTimes; ++time) EXPECT_EQ(Lapack().set_threads(2), 2);
}

TEST(Lapack, ALibraryWithoutLapackIsRejectedByName) {
  EXPECT_THROW(Lapack("libm.so.6"), ProbeError);
  EXPECT_THROW(Lapack("/nowhere/liblapack.so"), ProbeError);
  EXPECT_EQ(Lapack("liblapack.so.3").name(), "liblapack.so.3");
}

}  // namespace
}  // namespace nameplate
