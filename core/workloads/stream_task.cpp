#include "workloads/stream_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/operands.h"
#include "measure/clock.h"
#include "probe/error.h"

namespace nameplate {

namespace {

// The loops take turns, so that a disturbance that outlasts a turn slows all of them. A turn has at least two trials,
// since the first one finds what the loop before it left in the caches, and lasts until the clock has settled: some
// processors lower it for wide vectors.
constexpr int kTurns = 2;
constexpr int kMinTrials = 2;
constexpr double kTurn_s = 0.5e-3;
// A trial of a loop need not pass over all of large arrays.
constexpr std::uint64_t kMaxStepsInTrial = 32;
// The limit for a pass: even the smallest step then has more lines than there are steps, so each step gets a block.
constexpr std::uint64_t kMaxSteps = 4096;

template <class T>
constexpr std::size_t kLineElements = kLine / sizeof(T);

// Offsets the arrays' starts by some lines: at equal distances from the start of a page, a store and later loads share
// the low twelve bits of their addresses, which processors compare first.
constexpr std::size_t kSkew_bytes = 4 * kLine;

// One worker's part, on a cache line of its own.
template <class T>
struct alignas(kLine) Part {
  std::size_t first = 0;  // elements
  std::size_t end = 0;
  std::size_t block = 0;
  std::vector<std::size_t> starts;  // of the blocks, in the order in which they are visited
  std::uint64_t sum = 0;            // of the checksums of the blocks that the current call read
  int persist_error = 0;
};

void shuffle(std::vector<std::size_t>& values) {
  OperandSource random;
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.next() % i]);
}

template <class T>
class TypedStreamTask final : public StreamTask {
 public:
  TypedStreamTask(const StreamSettings& settings, Team& team)
      : settings_(settings),
        team_(team),
        count_(settings.array_bytes / sizeof(T)),
        parts_(team.size()),
        steps_([this](unsigned worker) { take_steps(worker); }) {
    divide();
    allocate();
    team_.run_untimed([this](unsigned worker) { fill(worker); });
    choose_loop();
    persist_by_ = settings_.persist_by;
  }

  std::span<Worker> run(std::uint64_t steps) override {
    begun_ = done_;
    called_ = steps;
    const std::span<Worker> workers = team_.run(steps_);
    done_ += steps;
    const StreamTraffic moved = traffic(settings_.op);
    for (unsigned i = 0; i < workers.size(); ++i) {
      workers[i].bytes = elements_of_call(parts_[i]) * sizeof(T) * (moved.reads + moved.writes);
    }
    return workers;
  }

  void verify() override {
    team_.run_untimed([this](unsigned worker) { verify_part(worker); });
  }

  Stores stores() const override { return loop_.stores; }
  Isa isa() const override { return loop_.isa; }

  std::uint64_t bytes_in_pass() const override {
    const StreamTraffic moved = traffic(settings_.op);
    return count_ * sizeof(T) * (moved.reads + moved.writes);
  }

  std::uint64_t steps_in_pass() const override { return steps_in_pass_; }

  std::size_t total_bytes() const override {
    std::size_t total = 0;
    for (const Buffer& buffer : buffers_) total += buffer.size_bytes();
    return total;
  }

  std::int64_t huge_bytes() const override {
    std::int64_t total = 0;
    for (const Buffer& buffer : buffers_) total += buffer.size_bytes() > 0 ? buffer.huge_bytes() : 0;
    return total;
  }

 private:
  struct Loop {
    StreamLoop<T> function = nullptr;
    Isa isa = Isa::scalar;
    Stores stores = Stores::plain;
  };

  void divide();
  // Whole lines, unless all of the part is one block.
  std::size_t block_of_step(std::size_t share) const {
    const std::size_t lines = (share + kLineElements<T> - 1) / kLineElements<T>;
    return std::min(share, (lines + steps_in_pass_ - 1) / steps_in_pass_ * kLineElements<T>);
  }
  void allocate();
  void fill(unsigned worker);
  std::string why_not_nontemporal() const;
  std::vector<Loop> candidates() const;
  void choose_loop();
  double turn_s(const Loop& loop, std::uint64_t steps);
  void take_steps(unsigned worker);
  bool repeats_one_block(const Part<T>& part) const;
  std::uint64_t take_blocks(Part<T>& part);
  std::uint64_t take_block(const Part<T>& part, std::size_t start, T scalar, std::uint64_t passes) const {
    return loop_.function(arrays_at(start), scalar, block_end(part, start) - start, passes);
  }
  T scalar_of(std::uint64_t pass) const { return static_cast<T>(stream_scalar(settings_.op, pass)); }
  std::uint64_t block_by_element(Part<T>& part, std::size_t start, T scalar);
  void persist(Part<T>& part, std::size_t first, std::size_t count);
  void verify_part(unsigned worker) const;
  void verify_block(const Part<T>& part, std::size_t start, std::uint64_t passes) const;
  void verify_sum(const Part<T>& part) const;
  std::uint64_t elements_of_call(const Part<T>& part) const;

  // Steps divide the blocks of each part equally. Returns the index of the first block that is not in the first
  // `steps` steps of a pass.
  std::size_t block_after(const Part<T>& part, std::uint64_t steps) const {
    return steps == steps_in_pass_ ? part.starts.size() : part.starts.size() * steps / steps_in_pass_;
  }
  static std::size_t block_end(const Part<T>& part, std::size_t start) {
    return std::min(start + part.block, part.end);
  }

  StreamArrays<T> arrays_at(std::size_t index) const {
    const auto at = [index](T* array) { return array == nullptr ? nullptr : array + index; };
    return {at(arrays_.a), at(arrays_.b), at(arrays_.c)};
  }
  std::array<T*, 3> by_number() const { return {arrays_.a, arrays_.b, arrays_.c}; }

  StreamSettings settings_;
  Team& team_;
  std::size_t count_;
  std::vector<Part<T>> parts_;
  std::array<Buffer, 3> buffers_;
  StreamArrays<T> arrays_;
  Loop loop_;
  PersistBy persist_by_ = PersistBy::none;  // while a loop is chosen, nothing is made durable
  std::uint64_t steps_in_pass_ = 1;
  std::uint64_t called_ = 0;  // steps of the current call
  std::uint64_t begun_ = 0;   // steps before it
  std::uint64_t done_ = 0;    // steps of all calls
  Team::Function steps_;
};

template <class T>
void TypedStreamTask<T>::divide() {
  const std::size_t lines = count_ / kLineElements<T>;
  const std::size_t workers = parts_.size();
  if (lines < workers) {
    refuse(fmt::format("arrays of {} bytes are too small for {} threads: every thread needs {} bytes",
                       settings_.array_bytes, workers, kLine));
  }
  const std::size_t smallest_bytes = lines / workers * kLine;
  if (settings_.step_bytes > 0) {
    steps_in_pass_ = std::clamp<std::uint64_t>(smallest_bytes / settings_.step_bytes, 1, kMaxSteps);
    if (settings_.block_bytes > 0) {
      steps_in_pass_ = std::clamp<std::uint64_t>(smallest_bytes / settings_.block_bytes, 1, steps_in_pass_);
    }
  }
  for (std::size_t i = 0; i < workers; ++i) {
    Part<T>& part = parts_[i];
    part.first = lines * i / workers * kLineElements<T>;
    part.end = i + 1 == workers ? count_ : lines * (i + 1) / workers * kLineElements<T>;
    const std::size_t share = part.end - part.first;
    part.block = settings_.block_bytes == 0 ? block_of_step(share) : settings_.block_bytes / sizeof(T);
    if (part.block > share) {
      refuse(fmt::format("block={} is larger than a thread's part of an array, {} bytes", settings_.block_bytes,
                         share * sizeof(T)));
    }
    for (std::size_t at = part.first; at < part.end; at += part.block) part.starts.push_back(at);
    if (settings_.random_blocks) shuffle(part.starts);
  }
}

template <class T>
void TypedStreamTask<T>::allocate() {
  const StreamTraffic moved = traffic(settings_.op);
  std::array<T*, 3> arrays{};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!moved.uses[i]) continue;
    const std::size_t skew = i * kSkew_bytes;
    const std::size_t bytes = count_ * sizeof(T) + skew;
    buffers_.at(i) = settings_.allocate ? settings_.allocate(bytes) : Buffer(bytes, settings_.pages);
    if (settings_.memory_node) buffers_.at(i).bind_to_node(*settings_.memory_node);
    arrays.at(i) = buffers_.at(i).template as<T>().data() + skew / sizeof(T);
  }
  arrays_ = {arrays[0], arrays[1], arrays[2]};
}

template <class T>
void TypedStreamTask<T>::fill(unsigned worker) {
  const Part<T>& part = parts_[worker];
  const auto arrays = by_number();
  for (unsigned which = 0; which < arrays.size(); ++which) {
    T* const array = arrays.at(which);
    if (array == nullptr) continue;
    for (std::size_t i = part.first; i < part.end; ++i) array[i] = stream_start<T>(which, i);
  }
}

// Returns what forbids non-temporal stores; nothing if they are possible.
template <class T>
std::string TypedStreamTask<T>::why_not_nontemporal() const {
  if (traffic(settings_.op).writes == 0) return "op=read stores nothing";
  if (settings_.block_bytes % kLine != 0) return "block must be a multiple of 64 bytes";
  if (settings_.persist_by == PersistBy::element) return "each store is too small to be made durable by element";
  const bool has_loop = stream_loop<T>(widest_vector_isa(), settings_.op, Stores::nontemporal) != nullptr;
  return has_loop ? "" : "this CPU has no such store";
}

template <class T>
auto TypedStreamTask<T>::candidates() const -> std::vector<Loop> {
  const std::string reason = why_not_nontemporal();
  if (settings_.stores == Stores::nontemporal && !reason.empty()) refuse(fmt::format("stores=nontemporal: {}", reason));
  std::vector<Loop> result;
  for (const Isa isa : vector_isas()) {
    for (const Stores stores : {Stores::plain, Stores::nontemporal}) {
      const bool is_asked_for =
          settings_.stores ? stores == *settings_.stores : stores == Stores::plain || reason.empty();
      const auto loop = stream_loop<T>(isa, settings_.op, stores);
      if (is_asked_for && loop != nullptr) result.push_back({loop, isa, stores});
    }
  }
  return result;
}

template <class T>
void TypedStreamTask<T>::choose_loop() {
  const std::vector<Loop> all = candidates();
  loop_ = all.front();
  if (settings_.persist_by == PersistBy::element) return;  // each element is handled the same way
  const std::uint64_t few = std::min(steps_in_pass_, kMaxStepsInTrial);
  run(few);  // the first pass is slower than the others
  std::vector<double> best_s(all.size(), std::numeric_limits<double>::max());
  for (int turn = 0; turn < kTurns && all.size() > 1; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) best_s[i] = std::min(best_s[i], turn_s(all[i], few));
  }
  loop_ = all[static_cast<std::size_t>(std::ranges::min_element(best_s) - best_s.begin())];
}

// The shortest time of a turn's trials.
template <class T>
double TypedStreamTask<T>::turn_s(const Loop& loop, std::uint64_t steps) {
  loop_ = loop;
  double best_s = std::numeric_limits<double>::max();
  const Ticks end = Clock::now() + Clock::get().ticks(kTurn_s);
  for (int trial = 0; trial < kMinTrials || Clock::now() < end; ++trial) {
    const std::span<Worker> workers = run(steps);
    const Ticks start = std::ranges::min(workers, {}, &Worker::start).start;
    const Ticks finish = std::ranges::max(workers, {}, &Worker::finish).finish;
    best_s = std::min(best_s, Clock::get().seconds(finish - start));
  }
  return best_s;
}

template <class T>
void TypedStreamTask<T>::take_steps(unsigned worker) {
  Part<T>& part = parts_[worker];
  part.sum = repeats_one_block(part) ? take_block(part, part.first, scalar_of(0), called_) : take_blocks(part);
}

// A pass over a small array takes a hundred cycles, so that a call for each would be noticed.
template <class T>
bool TypedStreamTask<T>::repeats_one_block(const Part<T>& part) const {
  return part.starts.size() == 1 && persist_by_ == PersistBy::none && settings_.op != StreamOp::update;
}

// The block is counted on, since a division that its address depends on would take part of a short pass.
template <class T>
std::uint64_t TypedStreamTask<T>::take_blocks(Part<T>& part) {
  std::uint64_t pass = begun_ / steps_in_pass_;
  std::uint64_t step = begun_ % steps_in_pass_;
  std::size_t block = block_after(part, step);
  std::uint64_t sum = 0;
  for (std::uint64_t left = called_; left > 0; --left) {
    for (const std::size_t last = block_after(part, step + 1); block < last; ++block) {
      const std::size_t start = part.starts[block];
      sum += persist_by_ == PersistBy::element ? block_by_element(part, start, scalar_of(pass))
                                               : take_block(part, start, scalar_of(pass), 1);
    }
    if (++step < steps_in_pass_) continue;
    if (persist_by_ == PersistBy::array) persist(part, part.first, part.end - part.first);
    ++pass;
    step = 0;
    block = 0;
  }
  return sum;
}

template <class T>
std::uint64_t TypedStreamTask<T>::block_by_element(Part<T>& part, std::size_t start, T scalar) {
  std::uint64_t sum = 0;
  for (std::size_t i = start; i < block_end(part, start); ++i) {
    sum += loop_.function(arrays_at(i), scalar, 1, 1);
    persist(part, i, 1);
  }
  return sum;
}

template <class T>
std::uint64_t TypedStreamTask<T>::elements_of_call(const Part<T>& part) const {
  const std::uint64_t share = part.end - part.first;
  std::uint64_t elements = called_ / steps_in_pass_ * share;
  for (std::uint64_t number = begun_; number < begun_ + called_ % steps_in_pass_; ++number) {
    const std::uint64_t step = number % steps_in_pass_;
    // Only the last block of a part may be shorter, and a random order may place it anywhere.
    for (std::size_t i = block_after(part, step); i < block_after(part, step + 1); ++i) {
      elements += block_end(part, part.starts[i]) - part.starts[i];
    }
  }
  return elements;
}

template <class T>
void TypedStreamTask<T>::persist(Part<T>& part, std::size_t first, std::size_t count) {
  const T* const target = by_number().at(traffic(settings_.op).target);
  const int error = settings_.persist(target + first, count * sizeof(T));
  if (error != 0) part.persist_error = error;
}

template <class T>
void TypedStreamTask<T>::verify_part(unsigned worker) const {
  const Part<T>& part = parts_[worker];
  if (part.persist_error != 0) {
    fail(fmt::format("stores could not be made durable: {}", std::strerror(part.persist_error)));
  }
  const std::size_t begun = block_after(part, done_ % steps_in_pass_);  // blocks of the pass that is not over
  for (std::size_t i = 0; i < part.starts.size(); ++i) {
    verify_block(part, part.starts[i], done_ / steps_in_pass_ + (i < begun ? 1 : 0));
  }
  if (settings_.op == StreamOp::read) verify_sum(part);
}

template <class T>
void TypedStreamTask<T>::verify_block(const Part<T>& part, std::size_t start, std::uint64_t passes) const {
  constexpr std::array<char, 3> kNames = {'a', 'b', 'c'};
  const auto arrays = by_number();
  for (unsigned which = 0; which < arrays.size(); ++which) {
    const T* const array = arrays.at(which);
    if (array == nullptr) continue;
    const std::size_t end = block_end(part, start);
    const std::size_t wrong = stream_mismatch<T>(settings_.op, passes, which, array, start, end);
    if (wrong < end) {
      wrong_result(fmt::format("{}[{}] is {}, but {} gives {}", kNames.at(which), wrong, array[wrong],
                               to_string(settings_.op), stream_expected<T>(settings_.op, passes, which, wrong)));
    }
  }
}

// Checks the sum of the checksums of all blocks that the last call read: those of whole passes, and of other steps.
template <class T>
void TypedStreamTask<T>::verify_sum(const Part<T>& part) const {
  const auto sum_of_blocks = [&](std::size_t first, std::size_t last) {
    std::uint64_t sum = 0;
    for (std::size_t i = first; i < last; ++i) {
      sum += stream_checksum<T>(part.starts[i], block_end(part, part.starts[i]));
    }
    return sum;
  };
  std::uint64_t expected = called_ / steps_in_pass_ * sum_of_blocks(0, part.starts.size());
  for (std::uint64_t number = begun_; number < begun_ + called_ % steps_in_pass_; ++number) {
    const std::uint64_t step = number % steps_in_pass_;
    expected += sum_of_blocks(block_after(part, step), block_after(part, step + 1));
  }
  if (part.sum != expected) {
    wrong_result(fmt::format("the checksum of a[{}] to a[{}] is {:#x}, but should be {:#x} after {} steps", part.first,
                             part.end - 1, part.sum, expected, called_));
  }
}

}  // namespace

std::size_t element_bytes(const std::string& precision) { return precision == "fp32" ? sizeof(float) : sizeof(double); }

std::unique_ptr<StreamTask> make_stream_task(const std::string& precision, const StreamSettings& settings, Team& team) {
  if (precision == "fp32") return std::make_unique<TypedStreamTask<float>>(settings, team);
  return std::make_unique<TypedStreamTask<double>>(settings, team);
}

double bus_bytes_per_byte(StreamOp op, Stores stores) {
  const StreamTraffic moved = traffic(op);
  const double user = moved.reads + moved.writes;
  const bool allocates = moved.allocates && stores == Stores::plain;
  return (user + (allocates ? 1 : 0)) / user;
}

}  // namespace nameplate
