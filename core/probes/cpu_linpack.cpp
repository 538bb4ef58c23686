// What it measures: the rate at which a system of linear equations Ax = b is solved by LU with partial pivoting, as in
// LINPACK: 2/3 n^3 + 3/2 n^2 operations divided by the time of LAPACK's dgesv, with the available BLAS.
//
// Why that is valid: only the solver is timed, on a new random matrix in memory that was touched before. Every solution
// is checked with the equations, whose elements are generated again from their positions; HPL's scaled residual must be
// below 16. The number of operations is the formula's, whatever an implementation does.
//
// What it does not show: the cores' peak (cpu_flops), or what another BLAS would reach. Small systems show how threads
// start and wait, and how panels of columns are factorised, more than arithmetic.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/flops.h"
#include "kernels/linear_system.h"
#include "machine/buffer.h"
#include "machine/lapack.h"
#include "machine/memory_budget.h"
#include "measure/clock.h"
#include "measure/team.h"
#include "probe/error.h"
#include "probe/registry.h"
#include "workloads/rate_loop.h"

namespace nameplate::cpu_linpack {

namespace {

constexpr double kLargestResidual = 16;
constexpr double kResiduals = 3;
constexpr double kMaxUnknowns = 1e6;
constexpr double kMaxTrials = 1e6;
constexpr double kLargestAlignment = 1 << 20;  // half a huge page, to whose boundary the memory is aligned
constexpr std::int64_t kLine = 8;              // elements per cache line
constexpr std::int64_t kElementsOfWorker = 1 << 22;
constexpr int kBursts = 5;
constexpr int kBlocksBeforeBurst = 10;  // a tenth of a millisecond, after which a core has adapted its clock

// Columns an odd number of lines apart use all sets of a cache.
std::int64_t spread_lda(std::int64_t n) {
  const std::int64_t lines = (n + kLine - 1) / kLine;
  return kLine * (lines % 2 == 0 ? lines + 1 : lines);
}

std::uint64_t alignment(const Parameters& parameters) {
  const auto align = static_cast<std::uint64_t>(parameters.count("align"));
  if (!std::has_single_bit(align)) refuse(fmt::format("align={}: not a power of two", align));
  return align;
}

std::uint64_t operations(std::int64_t n) {
  const auto order = static_cast<double>(n);
  return static_cast<std::uint64_t>(std::llround((2.0 / 3.0 * order + 1.5) * order * order));
}

// Starting a thread pays off for some milliseconds of elements.
unsigned workers_for(std::int64_t n, const Machine& machine) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(n * n / kElementsOfWorker, 1, machine.default_threads()));
}

// The kernels with which the ports for the ceiling are counted: multiplications and additions of the widest vectors.
std::vector<RateKernel> multiply_add_kernels() {
  const Isa isa = widest_vector_isa();
  std::vector<RateKernel> fused = flops_kernels<double>(isa, FloatMix::fma);
  return fused.empty() ? flops_kernels<double>(isa, FloatMix::add_mul) : fused;
}

struct Ports {
  Facts facts;
  RateKernel kernel;  // with which they were counted
};

// The calling thread is bound to a core only temporarily: a BLAS starts threads that inherit the binding.
Ports count_ports(const Machine& machine) {
  const RateLoop loop(multiply_add_kernels(), 1, Scaling::weak, Ends::work, machine.topology.allowed);
  return {loop.fact_values(), loop.kernel()};
}

// The clock that a core has for the instructions of the ceiling: with 512-bit vectors, which a solver does not
// execute in its last steps, some cores have a lower one.
double shortest_burst_s(const RateKernel& kernel, std::byte* result) {
  Ticks shortest = std::numeric_limits<Ticks>::max();
  for (int burst = 0; burst < kBursts; ++burst) {
    for (int block = 0; block < kBlocksBeforeBurst; ++block) kernel.run(result);
    shortest = std::min(shortest, run_settled_burst(kernel.is_wide));
  }
  return Clock::get().seconds(shortest);
}

class CpuLinpack final : public Probe {
 public:
  explicit CpuLinpack(Context& context) : context_(context) {}

  Prepared setup(const Parameters& parameters, const Machine& machine) override {
    n_ = parameters.count("n");
    lda_ = parameters.count_if_given("lda").value_or(spread_lda(n_));
    if (lda_ < n_) refuse(fmt::format("lda={} is less than n={}", lda_, n_));
    const std::uint64_t align = alignment(parameters);
    require_memory(matrix_bytes(), machine, fmt::format("n={}", n_));
    const Ports ports = count_ports(machine);
    kernel_ = ports.kernel;
    kernel_result_ = Buffer(kernel_.result_bytes, Pages::small);
    Facts facts = ports.facts;
    facts["residuals"] = kResiduals;
    Prepared prepared{.resolved = parameters, .facts = std::move(facts), .repetitions = 1, .max_repetitions = 1};
    lapack_ = std::make_unique<Lapack>(context_.lapack);
    prepared.labels = lapack_->labels();
    prepared.resolved.set("threads", take_threads(parameters, machine));
    prepared.resolved.set("lda", lda_);
    if (const auto trials = parameters.count_if_given("trials")) prepared.samples = *trials;
    placement_ = machine.topology.allowed;
    makers_ = workers_for(n_, machine);
    allocate(align);
    return prepared;
  }

  void prepare() override {
    by_all([this](unsigned worker, unsigned workers) {
      for (std::int64_t column = worker; column < n_; column += workers)
        fill_column({a_ + column * lda_, x_.size()}, column);
    });
    fill_column(x_, n_);
    std::ranges::fill(pivots_, 0);
  }

  Work run(std::uint64_t /*repetitions: one, as set-up fixed them*/) override {
    worker_.start = Clock::now();
    const std::int64_t info = lapack_->solve(n_, a_, lda_, pivots_.data(), x_.data());
    worker_.finish = Clock::now();
    worker_.flops = operations(n_);
    counters_[1] = shortest_burst_s(kernel_, kernel_result_.data());
    const RowErrors errors = all_errors();
    counters_[0] = scaled_residual(errors, x_);
    counters_[2] = errors.residual;
    counters_[3] = intel_residual(errors, x_);
    if (info != 0) bad_info_ = info;
    worst_ = std::max(worst_, counters_[0]);
    return {.flops = worker_.flops, .workers = {&worker_, 1}, .counters = counters_};
  }

  void verify() override {
    if (bad_info_ != 0) wrong_result(fmt::format("dgesv of {} returned INFO = {}", lapack_->name(), bad_info_));
    if (worst_ < kLargestResidual) return;
    wrong_result(fmt::format("the scaled residual is {:.3g}, but must be below {}", worst_, kLargestResidual));
  }

 private:
  std::int64_t matrix_bytes() const { return lda_ * n_ * static_cast<std::int64_t>(sizeof(double)); }

  void allocate(std::uint64_t align) {
    memory_ = Buffer(static_cast<std::size_t>(matrix_bytes()) + align, Pages::huge);
    a_ = memory_.as<double>().subspan(align / sizeof(double)).data();
    x_.resize(static_cast<std::size_t>(n_));
    pivots_.resize(x_.size());
  }

  std::int64_t take_threads(const Parameters& parameters, const Machine& machine) const {
    const auto asked = parameters.count_if_given("threads");
    const int taken = lapack_->set_threads(static_cast<int>(asked.value_or(machine.default_threads())));
    if (asked && taken != *asked) {
      refuse(fmt::format("threads={}: not possible; {} takes {}", *asked, lapack_->name(), taken));
    }
    return taken;
  }

  // Separate threads, started for this and ended before the solver runs.
  void by_all(const std::function<void(unsigned worker, unsigned workers)>& work) const {
    const auto team = make_thread_team(makers_, placement_);
    team->run_untimed([&](unsigned worker) { work(worker, team->size()); });
  }

  RowErrors all_errors() const {
    std::vector<RowErrors> errors(makers_);
    by_all([&](unsigned worker, unsigned workers) {
      errors[worker] = row_errors(n_ * worker / workers, n_ * (worker + 1) / workers, x_);
    });
    RowErrors all;
    for (const RowErrors& part : errors) all = worse(part, all);
    return all;
  }

  Context& context_;
  std::int64_t n_ = 0;
  std::int64_t lda_ = 0;
  Placement placement_;
  unsigned makers_ = 1;  // threads that generate A and check x
  std::unique_ptr<Lapack> lapack_;
  RateKernel kernel_;  // of the ceiling
  Buffer kernel_result_;
  Buffer memory_;
  double* a_ = nullptr;
  std::vector<double> x_;  // b, until it is solved
  std::vector<LapackInteger> pivots_;
  Worker worker_;
  std::array<double, 4> counters_{};
  std::int64_t bad_info_ = 0;
  double worst_ = 0;
};

std::vector<Fact> facts() {
  std::vector<Fact> facts = RateLoop::facts();
  facts.push_back(
      {"residuals", "", "number of residuals in each sample; earlier versions lack this fact and have one"});
  return facts;
}

ProbeInfo info() {
  Parameter threads = threads_parameter();
  threads.summary = "of the BLAS";
  return {
      .name = "cpu_linpack",
      .summary = "rate of solving Ax = b by LU with partial pivoting through LAPACK, as in LINPACK",
      .parameters = {integer("n", "unknowns", 1, kMaxUnknowns, "2000"),
                     automatic_integer("lda", "leading dimension: elements from one column of A to the next", 1,
                                       2 * kMaxUnknowns, "the smallest odd number of cache lines that holds n"),
                     size("align", "alignment of A: a power of two; A is not aligned to twice as much", sizeof(double),
                          kLargestAlignment, "4KiB"),
                     automatic_integer("trials", "solutions per round", 1, kMaxTrials, "as many as there is time for"),
                     threads},
      .counters = {{"residual", "", "HPL's scaled residual; correct if below 16", Combine::last},
                   {"burst_s", "s", "time of a burst of the clock chain right after the solution", Combine::last},
                   {"unscaled_residual", "", "the maximum of |Ax - b|", Combine::last},
                   {"intel_residual", "", "the residual (norm) of Intel's LINPACK, without |b| in the divisor",
                    Combine::last}},
      .facts = facts(),
      .needs = {"a LAPACK, such as OpenBLAS"}};
}

const Registration<CpuLinpack> kRegistration(info);

}  // namespace

}  // namespace nameplate::cpu_linpack
