#include "record/outcome.h"

namespace nameplate {

nlohmann::json failed_outcome(const std::string& id, const std::string& probe, const std::string& stage,
                              const std::string& reason) {
  return {{"type", "outcome"},
          {"id", id},
          {"probe", probe},
          {"ending", "failed"},
          {"stage", stage},
          {"reason", reason},
          {"params", nlohmann::json::object()},
          {"facts", nlohmann::json::object()},
          {"labels", nlohmann::json::object()},
          {"oversubscribed", false},
          {"interrupted", false},
          {"samples", 0},
          {"setup_s", 0},
          {"total_s", 0}};
}

}  // namespace nameplate
