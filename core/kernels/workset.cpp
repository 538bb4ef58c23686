#include "kernels/workset.h"

namespace nameplate {

namespace {

void plain_loop(double* __restrict x, const double* __restrict y, std::size_t count, std::uint64_t passes) {
  const auto [a, b, c, d] = kWorksetCoefficients;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    for (std::size_t i = 0; i < count; i += kWorksetGroup) {
      const double y0 = y[i];
      const double y1 = y[i + 1];
      const double y2 = y[i + 2];
      const double y3 = y[i + 3];
      x[i] = a * y0 + b * y1 + c * y2 + d * y3;
      x[i + 1] = b * y0 + c * y1 + d * y2 + a * y3;
      x[i + 2] = c * y0 + d * y1 + a * y2 + b * y3;
      x[i + 3] = d * y0 + a * y1 + b * y2 + c * y3;
    }
    // Otherwise a compiler could see that every pass does the same.
    asm volatile("" : : "r"(x), "r"(y) : "memory");
  }
#ifdef NAMEPLATE_WRONG_KERNEL  // a test build, to show that a wrong kernel is detected
  x[count / 2] += 1;
#endif
}

}  // namespace

WorksetLoop plain_workset_loop() { return plain_loop; }

double workset_operand(std::size_t index) {
  const std::uint64_t hash = (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15U;
  return 1 + static_cast<double>(hash >> 48U) * 0x1p-16;
}

double workset_result(std::size_t index) {
  const std::size_t k = index % kWorksetGroup;
  double sum = 0;
  for (std::size_t j = 0; j < kWorksetGroup; ++j) {
    sum += kWorksetCoefficients.at((j + k) % kWorksetGroup) * workset_operand(index - k + j);
  }
  return sum;
}

}  // namespace nameplate
