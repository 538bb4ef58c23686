// A program without MPI: a job of one.
#include <iostream>

#include "cluster/job.h"

namespace nameplate {

namespace {

class OneProcess final : public Job {
 public:
  bool leads() const override { return true; }
  std::optional<std::string> next_request() override {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  nlohmann::json to_json() const override { return nullptr; }
  void follow(const Machine& /*machine*/) override {}
};

}  // namespace

std::string mpi_library() { return ""; }

std::unique_ptr<Job> start_job() { return std::make_unique<OneProcess>(); }

}  // namespace nameplate
