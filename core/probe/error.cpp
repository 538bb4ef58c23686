#include "probe/error.h"

namespace nameplate {

std::string to_string(Ending ending) {
  switch (ending) {
    case Ending::ok: return "ok";
    case Ending::skipped: return "skipped";
    case Ending::invalid: return "invalid";
    case Ending::failed: return "failed";
  }
  return "failed";
}

std::string to_string(Stage stage) {
  switch (stage) {
    case Stage::request: return "request";
    case Stage::setup: return "setup";
    case Stage::prepare: return "prepare";
    case Stage::run: return "run";
    case Stage::verify: return "verify";
  }
  return "request";
}

void refuse(const std::string& reason) { throw ProbeError(Ending::skipped, reason); }
void refuse_for_now(const std::string& reason) { throw ProbeError(Ending::skipped, reason, true); }
void wrong_result(const std::string& difference) { throw ProbeError(Ending::invalid, difference); }
void fail(const std::string& message) { throw ProbeError(Ending::failed, message); }

}  // namespace nameplate
