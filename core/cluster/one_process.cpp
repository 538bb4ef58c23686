// A program without MPI: a job of one.
#include <iostream>

#include "cluster/job.h"
#include "measure/sampler.h"
#include "probe/error.h"

namespace nameplate {

namespace {

class OneProcess final : public Job {
 public:
  explicit OneProcess(Context& context) : context_(context) {}

  bool leads() const override { return true; }
  std::optional<std::string> next_request() override {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  nlohmann::json to_json(const Machine& /*machine*/) override { return nullptr; }
  void measure(const std::string& line, const Machine& machine, RecordSink& sink) override {
    const Request request = parse_request(line);
    if (!request.nodes.empty()) fail("nodes are given, but this is not an MPI job");
    Sampler(context_, machine, machine.root, sink).run(request);
  }
  void follow(const Machine& /*machine*/) override {}

 private:
  Context& context_;
};

}  // namespace

std::string mpi_library() { return ""; }

std::unique_ptr<Job> start_job(Context& context) { return std::make_unique<OneProcess>(context); }

}  // namespace nameplate
