// The outcome record of an experiment of which only the reason for its failure is known.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nameplate {

nlohmann::json failed_outcome(const std::string& id, const std::string& probe, const std::string& stage,
                              const std::string& reason);

}  // namespace nameplate
