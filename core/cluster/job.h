// The processes that one launcher started together, of which this is one. Without MPI it is one by itself.
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

// The launcher and the library that this program is built with do not belong together. Without words in a process that
// leaves saying so to another.
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

  // Whether this process reads the requests and writes the records; every other one only follows.
  virtual bool leads() const = 0;
  // Of the process that leads: waits for the next line of standard input; nothing after the last one, or a stop.
  virtual std::optional<std::string> next_request() = 0;
  // The job as the header has it; null for a process by itself. Of the process that leads, once, while all others
  // follow.
  virtual nlohmann::json to_json(const Machine& machine) = 0;
  // Takes one experiment, a line of standard input, and writes its records. Throws ProbeError for a line that is none.
  virtual void measure(const std::string& line, const Machine& machine, RecordSink& sink) = 0;
  // Does what the leading process tells, until that has ended.
  virtual void follow(const Machine& machine) = 0;
};

// The MPI library that was linked in, as it names itself; empty without one.
std::string mpi_library();

// Joins the others. Throws LaunchError. Linked in once: cluster/one_process.cpp, or mpi/mpi_job.cpp.
std::unique_ptr<Job> start_job(Context& context);

}  // namespace nameplate
