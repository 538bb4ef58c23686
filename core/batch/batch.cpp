#include "batch/batch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include "batch/core_process.h"
#include "batch/plan.h"
#include "batch/screen.h"
#include "batch/values.h"
#include "disk/file_keeper.h"
#include "machine/machine.h"
#include "probe/error.h"
#include "record/header.h"
#include "record/moment.h"
#include "record/outcome.h"
#include "record/writer.h"

namespace nameplate {

namespace {

using nlohmann::json;

// For set-up, warm-up, calibration and the last sample, in addition to a slice.
constexpr double kGrace_s = 30;
constexpr int kNotMeasured = 3;
// An experiment with good rounds is no longer measured after this number of failed ones, as in the Python package.
constexpr int kMaxFailures = 3;
// The load for each CPU from which on a reader is warned.
constexpr double kBusy = 0.5;

void print(const std::string& text) { print_message(text); }

// Returns what went wrong in `work`; empty if nothing did.
std::string problem_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

double monotonic_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The rounds of an experiment.
struct RoundCount {
  int good = 0;
  int failed = 0;
  bool has_value = false;
  std::string ending;  // of the last failed one
  std::string reason;  // of the last failed one
};

class Session {
 public:
  Session(const BatchOptions& options, const std::atomic<bool>& stop_requested)
      : options_(options),
        stop_requested_(stop_requested),
        plan_(plan_of(options.plan.empty() ? kQuickPlan : options.plan, machine_)),
        seed_(plan_.seed.value_or(std::random_device{}())) {
    if (options.rounds) plan_.set_rounds(*options.rounds);
    if (options.budget_s) plan_.set_budget(*options.budget_s);
  }

  int run();

 private:
  void write_line(std::string line);
  void write(json record, int round);
  void write_run();
  bool goes_on(int round) const;
  void measure_round(int round);
  bool start(int round);
  bool measure(const PlannedExperiment& experiment, int round);
  void note(const PlannedExperiment& experiment, const json& outcome, const std::vector<json>& samples);
  void note_failure(const PlannedExperiment& experiment, const json& outcome);
  void drop_duplicate(const PlannedExperiment& experiment, const json& outcome);
  bool has_time(const PlannedExperiment& experiment) const;
  bool is_rested(const PlannedExperiment& experiment) const { return reasons_.contains(experiment.id); }
  void write_stop();
  void show_progress(int round) const;
  void print_complaints() const;
  void print_screen() const;
  double elapsed_s() const { return monotonic_s() - began_s_; }

  const BatchOptions& options_;
  const std::atomic<bool>& stop_requested_;
  const double began_s_ = monotonic_s();
  const Machine machine_ = read_machine(Root("/"));
  BatchPlan plan_;
  const std::uint64_t seed_;
  // A terminal is for people, who see the table.
  const bool is_terminal_ = isatty(STDOUT_FILENO) != 0;
  bool has_reader_ = !is_terminal_;
  RecordWriter writer_{STDOUT_FILENO, &stop_requested_};
  FileKeeper keeper_;
  std::unique_ptr<CoreProcess> process_;
  Values values_{plan_.lines};
  std::map<std::string, std::string> reasons_;  // by the experiment's id: why it is no longer measured
  std::map<std::string, RoundCount> counts_;    // by the experiment's id
  std::map<std::string, double> last_s_;        // by the experiment's id: the time that it took in its last round
  std::map<std::string, const PlannedExperiment*> by_parameters_;  // the experiment with these complete parameters
  int rounds_ = 0;                                                 // of which something was measured
};

int Session::run() {
  std::string problem = problem_of([this] {
    for (int round = 1; goes_on(round); ++round) measure_round(round);
  });
  process_.reset();
  // Values that were measured are kept and shown, whatever happened.
  const std::string last_problem = problem_of([this] { write_stop(); });
  if (problem.empty()) problem = last_problem;
  print_screen();
  if (!problem.empty()) print("nameplate-core: " + problem + "\n");
  const bool is_good = std::ranges::none_of(
      reasons_, [](const auto& entry) { return entry.second == "failed" || entry.second == "invalid"; });
  return problem.empty() && is_good && !stop_requested_ ? 0 : kNotMeasured;
}

void Session::write_line(std::string line) {
  if (!has_reader_) return;
  try {
    writer_.write_line(std::move(line));
  } catch (...) {
    has_reader_ = false;  // nothing may follow an incomplete line
    throw;
  }
}

void Session::write(json record, int round) {
  record["round"] = round;
  write_line(record.dump(-1, ' ', false, json::error_handler_t::replace));
}

void Session::write_run() {
  OrderedJson run = {
      {"type", "run"},           {"round", 0},           {"schema", kSchema}, {"version", version()},
      {"started", moment_now()}, {"plan", plan_.record}, {"seed", seed_},     {"rated", OrderedJson::object()},
      {"priority", "normal"},    {"per_node", ""}};
  write_line(run.dump(-1, ' ', false, json::error_handler_t::replace));
}

bool Session::goes_on(int round) const {
  if (stop_requested_ || (plan_.rounds && round > *plan_.rounds)) return false;
  return std::ranges::any_of(plan_.experiments, [this](const PlannedExperiment& experiment) {
    return !is_rested(experiment) && has_time(experiment);
  });
}

void Session::measure_round(int round) {
  std::vector<const PlannedExperiment*> order;
  for (const PlannedExperiment& experiment : plan_.experiments) order.push_back(&experiment);
  std::mt19937_64 generator(seed_ + static_cast<std::uint64_t>(round));
  std::ranges::shuffle(order, generator);
  for (const PlannedExperiment* const experiment : order) {
    if (stop_requested_) break;
    if (is_rested(*experiment) || !has_time(*experiment)) continue;
    show_progress(round);
    if (!process_ && !start(round)) return;
    if (!measure(*experiment, round)) process_.reset();
  }
  if (process_) process_->close();
  process_.reset();
  keeper_.take_back();
}

// Starts a process for the rest of a round and writes its header; returns false after a signal.
bool Session::start(int round) {
  keeper_.take_back();
  process_ = std::make_unique<CoreProcess>(options_.core_options, options_.key, keeper_.lend());
  const auto header = process_->record(kGrace_s, [] {});
  if (header && (*header)["type"] == "header") {
    // Not before a process has begun: with wrong options there is no file.
    if (rounds_ == 0) write_run();
    rounds_ = round;
    write(*header, round);
    return !stop_requested_;
  }
  if (stop_requested_) return false;
  fail(process_->how_it_ended().empty() ? "the first record of nameplate-core is not a header"
                                        : process_->how_it_ended());
}

// Returns whether the process is still running.
bool Session::measure(const PlannedExperiment& experiment, int round) {
  json request = {{"id", experiment.id},
                  {"probe", experiment.probe},
                  {"params", json::parse(experiment.params.dump())},
                  {"slice_s", experiment.slice_s},
                  {"warmup_s", std::min(plan_.warmup_s, experiment.slice_s)}};
  if (experiment.sample_s) request["sample_s"] = *experiment.sample_s;
  if (experiment.interval_s) request["interval_s"] = *experiment.interval_s;
  if (plan_.max_samples) request["max_samples"] = *plan_.max_samples;
  process_->send(request);
  std::vector<json> samples;
  bool is_interrupted = false;
  const auto tell = [this, &is_interrupted] {
    if (stop_requested_ && !is_interrupted) process_->interrupt();
    is_interrupted = stop_requested_;
  };
  const double longest_sample_s = std::max(experiment.sample_s.value_or(0), experiment.interval_s.value_or(0));
  const double deadline_s =
      experiment.slice_s + plan_.warmup_s + 3 * longest_sample_s + experiment.longest_setup_s + kGrace_s;
  for (;;) {
    tell();
    auto record = process_->record(deadline_s, tell);
    if (!record) break;
    write(*record, round);
    if ((*record)["type"] == "outcome") {
      note(experiment, *record, samples);
      return true;
    }
    samples.push_back(std::move(*record));
  }
  if (stop_requested_) return false;
  const json gone = failed_outcome(experiment.id, experiment.probe, "run", process_->how_it_ended());
  write(gone, round);
  note(experiment, gone, samples);
  return false;
}

void Session::note(const PlannedExperiment& experiment, const json& outcome, const std::vector<json>& samples) {
  if (outcome["interrupted"]) return;
  if (outcome["ending"] != "ok") {
    note_failure(experiment, outcome);
    return;
  }
  ++counts_[experiment.id].good;
  counts_[experiment.id].has_value = true;
  // The first round writes test files and says nothing about later ones, so the last one counts.
  last_s_[experiment.id] = outcome["total_s"];
  values_.add(experiment, outcome, samples);
  if (experiment.is_measured_once) reasons_[experiment.id] = "rounds";
  drop_duplicate(experiment, outcome);
}

// A wrong result withdraws the values of all rounds. What may pass, such as a killed process, costs only its own round.
void Session::note_failure(const PlannedExperiment& experiment, const json& outcome) {
  RoundCount& count = counts_[experiment.id];
  const bool is_wrong = outcome["ending"] == "invalid";
  const bool may_pass = outcome["ending"] == "failed" || outcome.value("may_pass", false);
  ++count.failed;
  count.ending = outcome["ending"];
  count.reason = outcome["reason"];
  if (is_wrong) {
    values_.forget(experiment.id);
    count.has_value = false;
  }
  if (may_pass && count.good > 0 && count.failed < kMaxFailures) return;
  reasons_[experiment.id] = outcome["ending"];
}

// Ends the later one of two experiments of the plan whose parameters resolve to the same values. A series is another
// measurement than slices.
void Session::drop_duplicate(const PlannedExperiment& experiment, const json& outcome) {
  const std::string key =
      fmt::format("{} {} {}", experiment.probe, outcome["params"].dump(), experiment.interval_s.value_or(0));
  const auto [entry, is_new] = by_parameters_.emplace(key, &experiment);
  if (is_new || entry->second == &experiment) return;
  const PlannedExperiment* const later = std::max(entry->second, &experiment);
  entry->second = std::min(entry->second, &experiment);
  reasons_[later->id] = "duplicate";
  values_.forget(later->id);
}

// The first round is always measured, since it shows how long experiments take.
bool Session::has_time(const PlannedExperiment& experiment) const {
  const auto last = last_s_.find(experiment.id);
  if ((plan_.rounds && !plan_.budget_binds) || last == last_s_.end()) return true;
  return elapsed_s() + last->second <= plan_.budget_s;
}

void Session::write_stop() {
  for (const PlannedExperiment& experiment : plan_.experiments) {
    const RoundCount& count = counts_[experiment.id];
    std::string otherwise = plan_.rounds && count.good + count.failed >= *plan_.rounds ? "rounds" : "budget";
    if (plan_.rounds && count.failed > 0) otherwise = "failed";
    if (stop_requested_) otherwise = "interrupted";
    reasons_.emplace(experiment.id, otherwise);
  }
  if (rounds_ == 0) return;
  write({{"type", "stop"}, {"reasons", reasons_}, {"elapsed_s", elapsed_s()}, {"interrupted", stop_requested_.load()}},
        0);
}

void Session::show_progress(int round) const {
  if (isatty(STDERR_FILENO) == 0) return;
  print(fmt::format("\rround {}, {:.0f} s{}\033[K", round, elapsed_s(),
                    plan_.rounds && !plan_.budget_binds ? "" : fmt::format(" of {:.0f} s", plan_.budget_s)));
}

// The first reasons tell enough: a wrong kernel, for example, fails all experiments of a probe.
void Session::print_complaints() const {
  constexpr std::size_t kMaxLines = 4;
  std::vector<std::string> without_value;
  std::vector<std::string> incomplete;
  for (const auto& [id, count] : counts_) {
    if (count.failed == 0) continue;
    const std::string complaint = fmt::format("{}: {}: {}\n", count.ending, id, count.reason);
    if (count.has_value) {
      incomplete.push_back(fmt::format("{} of {} rounds {}", count.failed, count.good + count.failed, complaint));
    } else {
      without_value.push_back(complaint);
    }
  }
  for (const auto& [lines, group] : {std::pair(&without_value, " without a value"), std::pair(&incomplete, "")}) {
    for (std::size_t i = 0; i < std::min(kMaxLines, lines->size()); ++i) print((*lines)[i]);
    if (lines->size() > kMaxLines) {
      print(fmt::format("and {} more{}, which nameplate show --all lists\n", lines->size() - kMaxLines, group));
    }
  }
}

void Session::print_screen() const {
  if (isatty(STDERR_FILENO) != 0) print("\r\033[K");
  if (rounds_ == 0) return;
  print(fmt::format("{} · {}, {} round{} in {:.0f} s{}\n", machine_line(machine_),
                    plan_.record["name"].get<std::string>(), rounds_, rounds_ == 1 ? "" : "s", elapsed_s(),
                    stop_requested_ ? ", interrupted" : ""));
  if (!plan_.lines.empty()) {
    print("\n");
    for (const std::string& line : value_lines(plan_.lines, values_)) print(line + "\n");
  }
  print_complaints();
  const std::optional<double> load = machine_.load_1min;
  if (!load) {
    print("\n! whether other programs were running is unknown: /proc/loadavg cannot be read\n");
  } else if (*load / static_cast<double>(machine_.topology.allowed.cpus.size()) > kBusy) {
    print(fmt::format("\n! other programs were running before (load {:.1f}): values may be worse than usual\n", *load));
  }
  if (!plan_.lines.empty()) print("\nmedian of the rounds' medians, and the lowest to the highest of them\n");
  if (plan_.lines.empty()) print("\n");
  print(is_terminal_ ? "records are not written to a terminal: add > FILE.jsonl\n"
                     : "cache sizes, intervals, reference values: nameplate show FILE\n");
}

}  // namespace

int measure_batch(const BatchOptions& options, const std::atomic<bool>& stop_requested) {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  sigprocmask(SIG_BLOCK, &stops, nullptr);
  return Session(options, stop_requested).run();
}

}  // namespace nameplate
