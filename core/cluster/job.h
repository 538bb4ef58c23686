// The processes that one launcher started together, including this one. Without MPI it is a single process.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "machine/machine.h"
#include "probe/context.h"
#include "record/writer.h"

namespace nameplate {

// Thrown if the launcher does not belong to the library that this program is built with. Empty in all processes but the
// one that reports it.
class LaunchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  Job(Job&&) = delete;
  Job& operator=(Job&&) = delete;
  virtual ~Job() = default;

  // Returns whether this process reads the requests and writes the records; all others follow it.
  virtual bool leads() const = 0;
  // On the leading process: waits for the next line of standard input. Returns nothing after the last one, or after a
  // stop.
  virtual std::optional<std::string> next_request() = 0;
  // Returns the job for the header; null for a single process. The leading process calls it once, while all others
  // follow.
  virtual nlohmann::json to_json(const Machine& machine) = 0;
  // Runs the experiment on a line of standard input, and writes its records. Throws ProbeError if the line is not a
  // request.
  virtual void measure(const std::string& line, const Machine& machine, RecordSink& sink) = 0;
  // Does what the leading process says, until it ends.
  virtual void follow(const Machine& machine) = 0;
};

// Returns the name of the MPI library that was linked in; empty if there is none.
std::string mpi_library();

// Joins the job. Throws LaunchError. Defined once per program: cluster/one_process.cpp, or mpi/mpi_job.cpp.
std::unique_ptr<Job> start_job(Context& context);

}  // namespace nameplate
