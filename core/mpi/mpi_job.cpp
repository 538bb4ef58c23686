// A program with MPI: a job of all ranks.
#include <array>
#include <sstream>

#include "cluster/job.h"
#include "measure/sampler.h"
#include "mpi/distributed.h"
#include "mpi/per_node.h"
#include "mpi/request_lines.h"
#include "mpi/settings.h"
#include "mpi/steps.h"
#include "mpi/texts.h"

namespace nameplate {

namespace {

class MpiJob final : public Job {
 public:
  explicit MpiJob(Context& context) : context_(context) {}
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  MpiJob(MpiJob&&) = delete;
  MpiJob& operator=(MpiJob&&) = delete;
  ~MpiJob() override {
    if (ranks_.leads()) broadcast({.step = Step::end});
  }

  bool leads() const override { return ranks_.leads(); }

  // Only the leading rank reads standard input.
  std::optional<std::string> next_request() override {
    if (!lines_) lines_.emplace(context_.stop_requested);
    return lines_->next();
  }

  nlohmann::json to_json(const Machine& machine) override {
    nlohmann::json nodes = nlohmann::json::array();
    nlohmann::json hardware = nlohmann::json::array();
    for (const NodeRecord& node : ranks_.nodes()) {
      nodes.push_back(node.identity.host.data());
      add_run(hardware, node.first_rank == 0 ? hardware_of(machine) : receive_text(node.first_rank));
    }
    return {{"library", mpi_library()},
            {"ranks", ranks_.size()},
            {"nodes", nodes},
            {"hardware", hardware},
            {"placement", placement()},
            {"eager_limits", eager_limits()},
            {"mtu_bytes", interface_mtus(Root())},
            {"socket_buffer_bytes", socket_buffers(Root())}};
  }

  void measure(const std::string& line, const Machine& machine, RecordSink& sink) override {
    const Request request = parse_request(line);
    if (request.nodes.empty()) {
      Sampler(context_, machine, machine.root, sink).run(request);
    } else {
      measure_per_node(context_, nlohmann::json::parse(line), machine, sink);
    }
  }

  void follow(const Machine& machine) override {
    if (ranks_.local_rank() == 0) send_text(hardware_of(machine), 0);
    follow_leader(context_, machine);
  }

 private:
  // Run-length encoding: neighbours are mostly equal.
  static void add_run(nlohmann::json& runs, const nlohmann::json& value) {
    if (runs.empty() || runs.back()[0] != value) runs.push_back({value, 0});
    runs.back()[1] = runs.back()[1].get<int>() + 1;
  }

  nlohmann::json placement() const {
    nlohmann::json runs = nlohmann::json::array();
    for (int rank = 0; rank < ranks_.size(); ++rank) add_run(runs, ranks_.node_of(rank));
    return runs;
  }

  Context& context_;
  Ranks ranks_;
  std::optional<RequestLines> lines_;
};

}  // namespace

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  // "Open MPI v4.1.4, package: …", "MPICH Version:\t4.0.2\n…"
  std::istringstream tokens(text.data());
  std::string name;
  for (std::string word; tokens.peek() != '\n' && tokens >> word;) {
    const bool is_last = word.ends_with(',');
    if (is_last) word.pop_back();
    if (word != "Version:") name += (name.empty() ? "" : " ") + word;
    if (is_last) break;
  }
  return name;
}

std::unique_ptr<Job> start_job(Context& context) { return std::make_unique<MpiJob>(context); }

}  // namespace nameplate
