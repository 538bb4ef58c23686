// The one error a probe may raise. `main` turns it into an outcome; nothing else is thrown on purpose.
#pragma once

#include <stdexcept>
#include <string>

namespace nameplate {

// How an experiment ended. The names are the ones of the record.
enum class Ending {
  ok,
  skipped,  // the cell makes no sense here (an instruction set this CPU lacks), with the reason
  invalid,  // the kernel's result was wrong: no number may be shown
  failed,   // anything else that kept it from being measured
};

// The step of a probe's life in which an error arose.
enum class Stage { request, setup, prepare, run, verify };

std::string to_string(Ending ending);
std::string to_string(Stage stage);

class ProbeError : public std::runtime_error {
 public:
  ProbeError(Ending ending, const std::string& message) : std::runtime_error(message), ending_(ending) {}

  Ending ending() const { return ending_; }

 private:
  Ending ending_;
};

// Refuses an experiment that cannot be meant on this machine; `reason` is shown to the user as it stands.
[[noreturn]] void refuse(const std::string& reason);

// Says that a kernel computed something wrong.
[[noreturn]] void wrong_result(const std::string& difference);

// Says that something that ought to work did not (a failed system call, no memory).
[[noreturn]] void fail(const std::string& message);

}  // namespace nameplate
