#include "rounds/round_values.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "machine/descriptor.h"
#include "probe/error.h"

namespace nameplate {

namespace {

using nlohmann::json;

constexpr std::string_view kSample = R"({"type":"sample",)";
constexpr std::string_view kOutcome = R"({"type":"outcome",)";
constexpr std::string_view kHeader = R"({"type":"header",)";
constexpr std::string_view kDigest = R"({"type":"figures",)";

// The limit of the Python package, too, which reports such a line.
constexpr std::size_t kMaxLine_bytes = std::size_t{64} << 20U;
// Some numbers take two bytes of text and a hundred bytes of memory.
constexpr std::size_t kMaxSample_bytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxRanges = std::size_t{1} << 20U;

constexpr Place kRound{.parent = {}, .key = "round"};

std::string_view without_newline(std::string_view line) { return line.substr(0, line.size() - 1); }

// Writes a value of a metric; one that cannot be computed as false.
std::string text_of(std::optional<double> value) {
  if (!value) return "null";
  return std::isfinite(*value) ? fmt::format("{}", *value) : "false";
}

class Replacement {
 public:
  Replacement(const FormulasByProbe& formulas, RoundTexts& result)
      : formulas_(formulas), kept_(result.kept), values_(result.values) {}

  void add(std::string_view line) {
    if (line.starts_with(kSample)) {
      take_sample(line);
      return;
    }
    const bool is_outcome = line.starts_with(kOutcome);
    if (!is_outcome || !replace_pending(line)) keep(pending_);
    pending_ = {};
    // Another line may be a sample in another form, which belongs to the same outcome.
    is_complete_ = is_outcome || line.starts_with(kHeader);
    if (!line.starts_with(kDigest)) keep(line);
  }

  // Ends the text. The ranges of numbers are those of all rounds.
  void end() {
    keep(pending_);
    for (const auto& [id, all] : ranges_) {
      for (const SampleRanges& own : all) {
        values_ += R"({"type":"ranges","lowest":)";
        values_ += without_newline(own.lowest());
        values_ += R"(,"highest":)";
        values_ += without_newline(own.highest());
        values_ += "}\n";
      }
    }
  }

 private:
  void keep(std::string_view lines) {
    kept_ += lines;
    kept_lines_ += std::ranges::count(lines, '\n');
  }

  void take_sample(std::string_view line) {
    if (pending_.empty()) {
      // A node's samples, and samples with nodes, are judged together with the machine.
      has_columns_ =
          line.size() <= kMaxSample_bytes && line.find(R"("node)") == std::string_view::npos && samples_.begin(line);
      pending_ = line;
      return;
    }
    has_columns_ = has_columns_ && samples_.add(line);
    pending_ = {pending_.data(), pending_.size() + line.size()};
  }

  // Returns false if the samples before an outcome are kept.
  bool replace_pending(std::string_view line) {
    if (pending_.empty() || !has_columns_ || !is_complete_ || line.size() > kMaxSample_bytes) return false;
    if (!cut(line, outcome_)) return false;
    const auto formulas = formulas_.find(outcome_.text_of("probe"));
    if (formulas == formulas_.end() || !belong_together() || !samples_.read() || !are_of_one_round()) return false;
    if (n_ranges_ + samples_.ranges().size() > kMaxRanges) return false;
    append(values_of(formulas->second, samples_, outcome_));
    add_ranges();
    return true;
  }

  void add_ranges() {
    std::vector<SampleRanges>& all = ranges_[samples_.id()];
    if (all.empty() || !all.back().merge(samples_)) {
      all.emplace_back(samples_);
      n_ranges_ += samples_.ranges().size();
    }
  }

  bool belong_together() const { return outcome_.text_of("ending") == "ok" && outcome_.text_of("id") == samples_.id(); }

  bool are_of_one_round() const {
    const auto round = outcome_.number_at(kRound);
    const auto rounds = samples_.column(kRound);
    return round && !rounds.empty() && std::ranges::all_of(rounds, [&round](double each) { return each == *round; });
  }

  void append(const std::vector<std::optional<double>>& values) {
    values_ += fmt::format(R"({{"type":"values","line":{},"values":)", kept_lines_ + 1);
    char separator = '[';
    for (const auto& value : values) {
      values_ += separator + text_of(value);
      separator = ',';
    }
    values_ += "]}\n";
  }

  const FormulasByProbe& formulas_;
  std::string& kept_;
  std::string& values_;
  std::ptrdiff_t kept_lines_ = 0;
  std::string_view pending_;  // the samples since the last other line
  bool has_columns_ = false;
  bool is_complete_ = true;  // they are all since the last outcome or header
  SampleColumns samples_;
  JsonLine outcome_;
  std::map<std::string_view, std::vector<SampleRanges>> ranges_;  // by experiment
  std::size_t n_ranges_ = 0;
};

// Reads a regular file of at most 1 GiB; returns false if this is impossible. The memory of `content` is reused.
bool read_file(const std::string& path, std::string& content) {
  constexpr off_t kMaxSize = off_t{1} << 30;
  // Opening a pipe must not wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // NOLINT(*-vararg)
  struct stat status {};
  if (!file.is_open() || fstat(file.number(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) || status.st_size > kMaxSize) return false;
  content.resize(static_cast<std::size_t>(status.st_size));
  std::size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = read(file.number(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  content.resize(size);
  return true;
}

FormulasByProbe formulas_from(const json& text) {
  FormulasByProbe result;
  for (const auto& [probe, formulas] : text.items()) {
    for (const json& formula : formulas) result[probe].push_back(formula_from(formula));
  }
  return result;
}

}  // namespace

bool replace_samples(std::string_view text, const FormulasByProbe& formulas, RoundTexts& result) {
  result.kept.clear();
  result.values.clear();
  Replacement replacement(formulas, result);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool is_whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, is_whole ? end + 1 : text.size());
    if (line.size() > kMaxLine_bytes) return false;
    if (is_whole) replacement.add(line);
    text.remove_prefix(line.size());
  }
  replacement.end();
  return true;
}

void print_round_values(const std::string& request, const RecordWriter& writer) {
  FormulasByProbe formulas;
  std::vector<std::string> files;
  try {
    const json parsed = json::parse(request);
    formulas = formulas_from(parsed.at("formulas"));
    files = parsed.at("files").get<std::vector<std::string>>();
  } catch (const json::exception& error) {
    fail(std::string("not a request for the values of rounds: ") + error.what());
  }
  std::string content;
  RoundTexts texts;
  for (const std::string& path : files) {
    if (!read_file(path, content) || !replace_samples(content, formulas, texts)) {
      writer.write_line("");
      continue;
    }
    writer.write_line(fmt::format("{} {}", texts.kept.size(), texts.values.size()));
    writer.write_text(texts.kept);
    writer.write_text(texts.values);
  }
}

}  // namespace nameplate
