#include "measure/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "measure/clock.h"
#include "measure/effective_clock.h"
#include "measure/series_pace.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr double kShortSample_s = 10e-3;
constexpr double kLargestGrowth = 10;
constexpr double kSurprising = 2;  // a call that took longer than expected by this factor may have been delayed
constexpr std::uint64_t kFarGrowth = 8;
constexpr double kClockSteps = 1000;              // minimum length of a sample in steps of the clock
constexpr double kFlushSampleLongerThan_s = 0.5;  // with shorter samples, the reader would disturb the next sample
constexpr Ticks kCallsInAnInterval = 8;
constexpr Ticks kNearItsEnd = 500;        // a smaller part of an interval is not worth another call
constexpr double kShortestCall_s = 1e-4;  // in a series; starting shorter ones would cost too much
constexpr int kTriesOfShortestCall = 5;
constexpr double kUnknown_s = std::numeric_limits<double>::infinity();  // of a call that nothing is compared with
constexpr std::uint64_t kMaxRepetitions = std::uint64_t{1} << 50U;

// The sum of one call of `run` or, in a series, of several.
struct Total {
  Ticks start = 0;
  Ticks finish = 0;
  Ticks called = 0;  // the part of it spent in calls
  std::uint64_t repetitions = 0;
  std::uint64_t bytes = 0;
  std::uint64_t flops = 0;
  std::uint64_t ops = 0;
  std::vector<Worker> workers;
  std::vector<NodeTimes> nodes;
  std::vector<double> pairs;  // values of pairs, times the repetitions
  std::vector<double> counters;
  std::unique_ptr<Histogram> histogram;
  std::unique_ptr<Histogram> read_histogram;
  std::unique_ptr<Histogram> write_histogram;

  void add(const Work& work, std::uint64_t times, const ProbeInfo& info);
  double elapsed_s() const { return Clock::get().seconds(finish - start); }
  double between_calls_s() const { return Clock::get().seconds(finish - start - called); }
};

void add_times(std::unique_ptr<Histogram>& sum, const Histogram* more) {
  if (more == nullptr) return;
  if (!sum) sum = std::make_unique<Histogram>();
  sum->merge(*more);
}

void Total::add(const Work& work, std::uint64_t times, const ProbeInfo& info) {
  const bool first = repetitions == 0;
  repetitions += times;
  bytes += work.bytes;
  flops += work.flops;
  ops += work.ops;
  const auto first_start = std::ranges::min(work.workers, {}, &Worker::start).start;
  start = first ? first_start : std::min(start, first_start);
  const auto last_finish = std::ranges::max(work.workers, {}, &Worker::finish).finish;
  finish = std::max(finish, last_finish);
  called += last_finish - first_start;
  pairs.resize(work.pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] += work.pairs[i] * static_cast<double>(times);
  add_times(histogram, work.histogram);
  add_times(read_histogram, work.read_histogram);
  add_times(write_histogram, work.write_histogram);
  if (first) {
    counters.assign(work.counters.begin(), work.counters.end());
    workers.assign(work.workers.begin(), work.workers.end());
    nodes.assign(work.nodes.begin(), work.nodes.end());
    return;
  }
  for (std::size_t i = 0; i < counters.size(); ++i) {
    counters[i] = info.counters[i].combine == Combine::sum ? counters[i] + work.counters[i] : work.counters[i];
  }
  for (std::size_t i = 0; i < workers.size(); ++i) {
    workers[i].finish = work.workers[i].finish;
    workers[i].bytes += work.workers[i].bytes;
    workers[i].flops += work.workers[i].flops;
    workers[i].ops += work.workers[i].ops;
  }
}

nlohmann::json workers_json(const Total& total) {
  nlohmann::json result = nlohmann::json::array();
  const Clock& clock = Clock::get();
  for (const Worker& worker : total.workers) {
    result.push_back({{"start_s", clock.seconds(worker.start - total.start)},
                      {"elapsed_s", clock.seconds(worker.finish - worker.start)},
                      {"work", {{"bytes", worker.bytes}, {"flops", worker.flops}, {"ops", worker.ops}}}});
  }
  return result;
}

nlohmann::json to_json(const Spread& spread) {
  return {{"average_s", spread.average}, {"minimum_s", spread.minimum}, {"maximum_s", spread.maximum}};
}

nlohmann::json nodes_json(const std::vector<NodeTimes>& nodes) {
  nlohmann::json result = nlohmann::json::array();
  for (const NodeTimes& node : nodes) {
    result.push_back({{"ranks", node.ranks},
                      {"repeats", node.repeats},
                      {"bytes_in_repeat", node.bytes_in_repeat},
                      {"window", to_json(node.window_s)},
                      {"longest", to_json(node.longest_s)},
                      {"rank", to_json(node.rank_s)},
                      {"start_skew_s", node.start_skew_s}});
  }
  return result;
}

// Five digits, more than the accuracy of a time: the pairs of a thousand nodes then take half the space. NaN becomes
// null.
nlohmann::json pairs_json(const Total& total) {
  nlohmann::json result = nlohmann::json::array();
  for (const double sum : total.pairs) {
    const double mean = sum / static_cast<double>(total.repetitions);
    result.push_back(std::strtod(fmt::format("{:.4e}", mean).c_str(), nullptr));
  }
  return result;
}

// A sample until it is written. Its record is made when all samples of a slice are taken: with hundreds of workers,
// that takes as long as a sample.
struct PendingSample {
  std::uint64_t index = 0;
  Total total;                // without its histograms, each of which takes 0.1 MB
  nlohmann::json histograms;  // by their name in the record
  Disturbance happened;
  double burst_s = 0;
  std::optional<double> celsius;
};

// One experiment while it runs: the probe, the decisions of set-up, and the records that it has written.
class Experiment {
 public:
  Experiment(Context& context, const Request& request, const Machine& machine, DisturbanceReader& disturbance,
             const Thermometer& thermometer, RecordSink& writer)
      : context_(context),
        request_(request),
        machine_(machine),
        disturbance_(disturbance),
        thermometer_(thermometer),
        writer_(writer) {}

  void run();

 private:
  void measure(const RegisteredProbe& registered);
  void check_facts() const;
  void calibrate();
  double shorter_of_two_s(double expected_s);
  double shortest_call_s(double short_enough_s);
  void take_samples(double end_s);
  void take_series();
  Ticks fill_interval(SeriesPace& pace, Total& total);
  Work run_once(std::uint64_t repetitions) {
    const Work work = probe_->run(repetitions);
    if (work.workers.empty()) fail("the probe returned no worker");
    return work;
  }
  bool has_taken(const std::optional<std::uint64_t>& required) const { return required && samples_ >= *required; }
  bool enough() const {
    return context_.stop_requested || has_taken(request_.max_samples) || has_taken(prepared_.samples);
  }
  void keep(Total total, const Disturbance& happened, double burst_s);
  nlohmann::json record_of(const PendingSample& sample) const;
  void flush();
  void write_outcome(Ending ending, const std::string& reason, bool may_pass);
  bool oversubscribed() const;

  const Clock& clock_ = Clock::get();  // chosen before begin_ is read: the choice may change what now() counts
  Context& context_;
  const Request& request_;
  const Machine& machine_;
  DisturbanceReader& disturbance_;
  const Thermometer& thermometer_;
  RecordSink& writer_;
  const ProbeInfo* info_ = nullptr;
  std::unique_ptr<Probe> probe_;
  Prepared prepared_;
  Stage stage_ = Stage::request;
  std::optional<std::uint64_t> fixed_;  // repetitions that are given and not calibrated
  std::uint64_t repetitions_ = 1;
  Call tried_;  // the last call of the calibration
  std::uint64_t samples_ = 0;
  Ticks start_ = 0;
  double setup_s_ = 0;
  std::vector<PendingSample> pending_;
};

void Experiment::run() {
  start_ = Clock::now();
  Ending ending = Ending::ok;
  std::string reason;
  bool may_pass = false;
  try {
    measure(find_probe(request_.probe));
  } catch (const ProbeError& error) {
    ending = error.ending();
    reason = error.what();
    may_pass = error.may_pass();
  } catch (const std::exception& error) {
    ending = Ending::failed;
    reason = error.what();
  }
  if (probe_) probe_->teardown();
  probe_.reset();  // its memory is free when the outcome is written
  flush();
  write_outcome(ending, reason, may_pass);
}

void Experiment::measure(const RegisteredProbe& registered) {
  info_ = &registered.info;
  const Parameters parameters = check_parameters(info_->parameters, request_.params);
  stage_ = Stage::setup;
  probe_ = registered.make(context_);
  prepared_ = probe_->setup(parameters, machine_);
  check_facts();
  fixed_ = request_.repetitions ? request_.repetitions : prepared_.repetitions;
  setup_s_ = clock_.seconds(Clock::now() - start_);
  if (request_.interval_s && prepared_.max_repetitions) {
    refuse("not possible as a series: the probe prepares each sample, and a series leaves no time for that");
  }
  // Repetitions that are fixed need no calibration, only warm-up.
  if (!fixed_ || !prepared_.warms_up) calibrate();
  if (request_.interval_s) {
    take_series();
  } else {
    take_samples(now_s() + request_.slice_s);
  }
  stage_ = Stage::verify;
  probe_->verify();
}

void Experiment::check_facts() const {
  for (const Fact& fact : info_->facts) {
    if (!prepared_.facts.contains(fact.name)) fail(fmt::format("the probe gave no value to its fact '{}'", fact.name));
  }
  if (prepared_.facts.size() != info_->facts.size()) fail("the probe set a fact that it does not declare");
}

// Multiplies the repetitions until a call is long enough to be timed, then extrapolates to the sample's length; the
// calls also warm up the machine. A single call may have been delayed, so the smaller of two counts is used, unless
// each needs a preparation, which takes longer, or is long and took as long as expected.
void Experiment::calibrate() {
  stage_ = Stage::run;
  const auto batches = static_cast<double>(prepared_.batches);
  const double timeable_s =
      batches * std::max(std::min(request_.sample_s, kShortSample_s), kClockSteps * clock_.info().resolution_s);
  const double required_s = std::max(request_.sample_s, timeable_s);
  const double warm_s = now_s() + request_.warmup_s;
  if (fixed_) repetitions_ = *fixed_;
  const std::uint64_t most = prepared_.max_repetitions.value_or(kMaxRepetitions);
  double expected_s = kUnknown_s;
  while (!context_.stop_requested) {
    const double elapsed_s = shorter_of_two_s(expected_s);
    const std::uint64_t tried = repetitions_;
    if (fixed_ || elapsed_s >= required_s || repetitions_ >= most) {
      if (now_s() >= warm_s) return;
    } else if (elapsed_s < timeable_s) {
      const bool is_far = elapsed_s * kFarGrowth * 2 < timeable_s;
      repetitions_ = std::min(most, repetitions_ * (is_far ? kFarGrowth : 2));
    } else {
      const double growth = std::min(required_s / elapsed_s, kLargestGrowth);
      repetitions_ = std::min(most, static_cast<std::uint64_t>(std::ceil(static_cast<double>(repetitions_) * growth)));
      // The last step is not verified: that would take as long as the samples themselves.
      if (elapsed_s * growth >= required_s && request_.sample_s > kShortSample_s) return;
    }
    expected_s = elapsed_s * static_cast<double>(repetitions_) / static_cast<double>(tried);
  }
}

double Experiment::shorter_of_two_s(double expected_s) {
  const auto once_s = [this] {
    probe_->prepare();
    Total total;
    total.add(run_once(repetitions_), repetitions_, *info_);
    tried_ = {.repetitions = repetitions_, .elapsed = total.finish - total.start};
    return total.elapsed_s();
  };
  const double first_s = once_s();
  const bool is_long = first_s > kShortSample_s * kLargestGrowth && first_s < kSurprising * expected_s;
  const bool once = fixed_ || prepared_.max_repetitions || is_long;
  return once ? first_s : std::min(first_s, once_s());
}

// The time of a call with as few repetitions as possible, from the last one of the calibration. On a busy machine that
// call may have been delayed, so some more are tried unless it was short enough.
double Experiment::shortest_call_s(double short_enough_s) {
  const auto last_s = [this] {
    return clock_.seconds(tried_.elapsed) / static_cast<double>(fixed_ ? 1 : tried_.repetitions);
  };
  double shortest_s = last_s();
  for (int more = kTriesOfShortestCall; shortest_s > short_enough_s && more > 0 && !context_.stop_requested; --more) {
    shorter_of_two_s(kUnknown_s);
    shortest_s = std::min(shortest_s, last_s());
  }
  return shortest_s;
}

void Experiment::take_samples(double end_s) {
  disturbance_.read();  // so that nothing of the set-up counts in the first sample
  while (!enough()) {
    stage_ = Stage::prepare;
    probe_->prepare();
    stage_ = Stage::run;
    const double burst_s = clock_.seconds(run_burst());
    const Disturbance before = disturbance_.read_if_due();
    Total total;
    total.add(run_once(repetitions_), repetitions_, *info_);
    const bool is_long = total.elapsed_s() > kFlushSampleLongerThan_s;
    keep(std::move(total), disturbance_.read_if_due() - before, burst_s);
    if (is_long) flush();
    if (!prepared_.samples && now_s() >= end_s) return;
  }
}

// One sample per interval, each from the end of the previous one: what the tool itself uses in between is inside a
// sample, so that the samples add up to the whole time.
void Experiment::take_series() {
  const Ticks interval = clock_.ticks(*request_.interval_s);
  const double shortest_s = shortest_call_s(*request_.interval_s);
  if (shortest_s > *request_.interval_s) {
    refuse(fmt::format("not possible as a series with an interval of {:g} s: the shortest call takes {:.3g} s",
                       *request_.interval_s, shortest_s));
  }
  probe_->prepare();
  stage_ = Stage::run;
  Ticks sample_start = Clock::now();
  const auto longest = std::max(interval / kCallsInAnInterval, clock_.ticks(kShortSample_s));
  SeriesPace pace(sample_start,
                  {.interval = interval,
                   .longest_call = longest,
                   .shortest_call = std::max(interval / kNearItsEnd, clock_.ticks(kShortestCall_s))},
                  tried_, fixed_.has_value());
  Disturbance before = disturbance_.read();
  double flushed_s = now_s();
  for (auto left = std::llround(request_.slice_s / *request_.interval_s); left > 0 && !enough(); --left) {
    const double burst_s = clock_.seconds(run_burst());
    Total total;
    const Ticks end = fill_interval(pace, total);
    total.start = sample_start;
    total.finish = end;
    sample_start = end;
    const Disturbance after = disturbance_.read_if_due();
    keep(std::move(total), after - before, burst_s);
    before = after;
    if (now_s() - flushed_s < kFlushSampleLongerThan_s) continue;
    flush();
    flushed_s = now_s();
  }
}

// Returns when the sample ended.
Ticks Experiment::fill_interval(SeriesPace& pace, Total& total) {
  Ticks now = Clock::now();
  for (std::optional<std::uint64_t> repetitions = pace.first_call(now); repetitions;) {
    const Ticks called_before = total.called;
    total.add(run_once(*repetitions), *repetitions, *info_);
    const Ticks end = Clock::now();
    const Ticks elapsed = total.called - called_before;
    const Ticks cost = end - now > elapsed ? end - now - elapsed : 0;
    pace.called({.repetitions = *repetitions, .elapsed = elapsed, .cost = cost});
    now = end;
    repetitions = context_.stop_requested ? std::nullopt : pace.next_call(now);
  }
  pace.end_sample();
  return now;
}

void Experiment::keep(Total total, const Disturbance& happened, double burst_s) {
  nlohmann::json histograms = nlohmann::json::object();
  for (const auto& [name, histogram] :
       {std::pair("histogram", &total.histogram), std::pair("read_histogram", &total.read_histogram),
        std::pair("write_histogram", &total.write_histogram)}) {
    if (*histogram) histograms[name] = (*histogram)->to_json();
    histogram->reset();
  }
  pending_.push_back({.index = samples_++,
                      .total = std::move(total),
                      .histograms = std::move(histograms),
                      .happened = happened,
                      .burst_s = burst_s,
                      .celsius = request_.interval_s ? thermometer_.read() : std::nullopt});
}

nlohmann::json Experiment::record_of(const PendingSample& sample) const {
  const Total& total = sample.total;
  const Disturbance& happened = sample.happened;
  nlohmann::json record = {{"type", "sample"},
                           {"id", request_.id},
                           {"index", sample.index},
                           {"start_s", clock_.seconds(total.start - start_)},
                           {"elapsed_s", total.elapsed_s()},
                           {"repetitions", total.repetitions},
                           {"work", {{"bytes", total.bytes}, {"flops", total.flops}, {"ops", total.ops}}},
                           {"disturbed", to_json(happened)}};
  record["disturbed"]["burst_s"] = sample.burst_s;
  if (request_.interval_s) record["disturbed"]["between_calls_s"] = total.between_calls_s();
  if (sample.celsius) record["disturbed"]["temperature_celsius"] = *sample.celsius;
  record["counters"] = {{"cpu_user_s", happened.cpu_user_s}, {"cpu_system_s", happened.cpu_system_s}};
  for (std::size_t i = 0; i < total.counters.size(); ++i)
    record["counters"][info_->counters[i].name] = total.counters[i];
  if (info_->reports_workers) record["workers"] = workers_json(total);
  if (!total.nodes.empty()) record["nodes"] = nodes_json(total.nodes);
  if (!total.pairs.empty()) record["pairs"] = pairs_json(total);
  record.update(sample.histograms);
  return record;
}

void Experiment::flush() {
  for (const PendingSample& sample : pending_) writer_.write(record_of(sample));
  pending_.clear();
}

bool Experiment::oversubscribed() const {
  const auto threads = prepared_.resolved.count_if_given("threads");
  return prepared_.shares_cpus ||
         (threads && *threads > static_cast<std::int64_t>(machine_.topology.allowed.cpus.size()));
}

void Experiment::write_outcome(Ending ending, const std::string& reason, bool may_pass) {
  nlohmann::json record = {{"type", "outcome"},
                           {"id", request_.id},
                           {"probe", request_.probe},
                           {"ending", to_string(ending)},
                           {"params", prepared_.resolved.to_json()},
                           {"facts", prepared_.facts},
                           {"labels", prepared_.labels},
                           {"oversubscribed", oversubscribed()},
                           {"interrupted", context_.stop_requested.load()},
                           {"samples", samples_},
                           {"setup_s", setup_s_},
                           {"total_s", clock_.seconds(Clock::now() - start_)}};
  if (ending != Ending::ok) {
    record["reason"] = reason;
    record["stage"] = to_string(stage_);
    if (may_pass) record["may_pass"] = true;
  }
  writer_.write(record);
}

template <class T>
void read_field(const nlohmann::json& json, const char* name, T& target) {
  if (json.contains(name) && !json[name].is_null()) target = json[name].get<T>();
}

template <class T>
void read_field(const nlohmann::json& json, const char* name, std::optional<T>& target) {
  if (json.contains(name) && !json[name].is_null()) target = json[name].get<T>();
}

}  // namespace

Request parse_request(const std::string& line) {
  try {
    const auto json = nlohmann::json::parse(line);
    Request request;
    request.id = json.at("id").get<std::string>();
    request.probe = json.at("probe").get<std::string>();
    read_field(json, "params", request.params);
    read_field(json, "slice_s", request.slice_s);
    read_field(json, "warmup_s", request.warmup_s);
    read_field(json, "sample_s", request.sample_s);
    read_field(json, "max_samples", request.max_samples);
    read_field(json, "repetitions", request.repetitions);
    read_field(json, "interval_s", request.interval_s);
    read_field(json, "nodes", request.nodes);
    read_field(json, "at_once", request.at_once);
    if (request.interval_s && !(*request.interval_s > 0)) fail("interval_s must be above 0");
    return request;
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("not a request: {}", error.what()));
  }
}

void Sampler::run(const Request& request) {
  Experiment(context_, request, machine_, disturbance_, thermometer_, writer_).run();
}

}  // namespace nameplate
