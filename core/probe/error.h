// The only error that a probe may raise. `main` turns it into an outcome; nothing else is thrown on purpose.
#pragma once

#include <stdexcept>
#include <string>

namespace nameplate {

// The outcome of an experiment. The names are those in the record.
enum class Ending {
  ok,
  skipped,  // the experiment makes no sense on this machine (an instruction set that the CPU lacks), with the reason
  invalid,  // the kernel's result was wrong, so that no value may be shown
  failed,   // anything else that prevented the measurement
};

// The step of a probe in which an error occurred.
enum class Stage { request, setup, prepare, run, verify };

std::string to_string(Ending ending);
std::string to_string(Stage stage);

class ProbeError : public std::runtime_error {
 public:
  ProbeError(Ending ending, const std::string& message, bool may_pass = false)
      : std::runtime_error(message), ending_(ending), may_pass_(may_pass) {}

  Ending ending() const { return ending_; }

  // Returns whether the reason to skip may pass, so that a later attempt may succeed.
  bool may_pass() const { return may_pass_; }

 private:
  Ending ending_;
  bool may_pass_;
};

// Skips an experiment that makes no sense on this machine; `reason` is shown to the user unchanged.
[[noreturn]] void refuse(const std::string& reason);

// Skips an experiment for which this machine or a peer has no room at the moment: memory, disk or connections.
[[noreturn]] void refuse_for_now(const std::string& reason);

// Reports that a kernel computed a wrong result.
[[noreturn]] void wrong_result(const std::string& difference);

// Reports a failure of something that should work (a failed system call, no memory).
[[noreturn]] void fail(const std::string& message);

}  // namespace nameplate
