#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <system_error>
#include <thread>

#include "measure/team.h"
#include "probe/error.h"

namespace nameplate {

namespace {

void relax() {
#if defined(__x86_64__)
  asm volatile("pause");
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A number that increases. Waiters spin for a while, since waking by futex is about 10 us slower, and then sleep, since
// with more workers than cores a spinning one keeps another from running.
class Gate {
 public:
  static constexpr unsigned kSpins = 1U << 16U;

  explicit Gate(bool blocking, unsigned spins = kSpins) : spins_(blocking ? 0 : spins) {}

  void raise() {
    value_.fetch_add(1, std::memory_order_release);
    value_.notify_all();
  }

  void wait_until(std::uint32_t target) const {
    for (unsigned i = 0; i < spins_; ++i) {
      if (value_.load(std::memory_order_acquire) >= target) return;
      relax();
    }
    for (std::uint32_t seen = value_.load(std::memory_order_acquire); seen < target;
         seen = value_.load(std::memory_order_acquire)) {
      value_.wait(seen, std::memory_order_acquire);
    }
  }

 private:
  unsigned spins_;
  alignas(64) std::atomic<std::uint32_t> value_{0};
};

// Worker 0 is the caller: a team of one starts no thread, so an empty run costs two clock readings.
class ThreadTeam final : public Team {
 public:
  ThreadTeam(unsigned size, const Placement& placement, Binding binding)
      : Team(size, placement),
        ready_(oversubscribed()),
        go_(oversubscribed()),
        finished_(oversubscribed(), kLongSpins) {
    if (binding == Binding::dedicated_cpu) callers_binding_.emplace(placement.cpu_of(0));
    try {
      for (unsigned worker = 1; worker < size; ++worker) {
        threads_.emplace_back([this, worker, cpu = placement.cpu_of(worker)] { serve(worker, cpu); });
      }
    } catch (const std::system_error& error) {
      go_.raise();  // releases the threads that started; a half-built team has no destructor to do it
      fail(fmt::format("cannot start {} threads, only {}: {}", size, threads_.size() + 1, error.what()));
    }
  }

  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ThreadTeam(ThreadTeam&&) = delete;
  ThreadTeam& operator=(ThreadTeam&&) = delete;

  ~ThreadTeam() override {
    function_ = nullptr;
    go_.raise();
  }

 protected:
  void start_all(const Function& function) override {
    const auto n_spawned = static_cast<std::uint32_t>(threads_.size());
    ++round_;
    ready_.wait_until(round_ * n_spawned);
    function_ = &function;
    go_.raise();
    timed(0, function);
    finished_.wait_until(round_ * n_spawned);
  }

 private:
  void serve(unsigned worker, unsigned cpu) {
    std::optional<ScopedBinding> binding;
    if (callers_binding_) binding.emplace(cpu);
    for (std::uint32_t round = 1;; ++round) {
      ready_.raise();
      go_.wait_until(round);
      if (function_ == nullptr) return;
      timed(worker, *function_);
      finished_.raise();
    }
  }

  // Workers of a long call end some milliseconds apart, and in a guest waking up takes 0.1 ms, too much for a series.
  static constexpr unsigned kLongSpins = Gate::kSpins * 8;

  Gate ready_;
  Gate go_;
  Gate finished_;
  const Function* function_ = nullptr;
  std::uint32_t round_ = 0;
  std::optional<ScopedBinding> callers_binding_;  // as for the caller, so for all workers: bound, or not
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<Team> make_thread_team(unsigned size, const Placement& placement, Binding binding) {
  return std::make_unique<ThreadTeam>(size, placement, binding);
}

}  // namespace nameplate
