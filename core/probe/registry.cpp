#include "probe/registry.h"

#include <fmt/format.h>

#include <map>

#include "probe/error.h"

namespace nameplate {

namespace {

struct Registered {
  ProbeInfo (*info)();
  MakeProbe make;
  bool takes_all_ranks;
};

// A function-local static, since probes register during static initialisation.
std::vector<Registered>& pending() {
  static std::vector<Registered> probes;
  return probes;
}

const std::map<std::string, RegisteredProbe>& registry() {
  static const std::map<std::string, RegisteredProbe> kProbes = [] {
    std::map<std::string, RegisteredProbe> probes;
    for (const Registered& registered : pending()) {
      ProbeInfo info = registered.info();
      const std::string name = info.name;
      probes.emplace(name, RegisteredProbe{std::move(info), registered.make, registered.takes_all_ranks});
    }
    return probes;
  }();
  return kProbes;
}

}  // namespace

void register_probe(ProbeInfo (*info)(), MakeProbe make, bool takes_all_ranks) {
  pending().push_back({info, std::move(make), takes_all_ranks});
}

std::vector<const RegisteredProbe*> registered_probes() {
  std::vector<const RegisteredProbe*> result;
  for (const auto& [name, probe] : registry()) result.push_back(&probe);
  return result;
}

const RegisteredProbe& find_probe(const std::string& name) {
  const auto match = registry().find(name);
  if (match == registry().end()) fail(fmt::format("unknown probe '{}'", name));
  return match->second;
}

nlohmann::json to_json(const ProbeInfo& info) {
  nlohmann::json result = {{"name", info.name}, {"summary", info.summary}, {"needs", info.needs}};
  result["parameters"] = nlohmann::json::array();
  for (const Parameter& parameter : info.parameters) result["parameters"].push_back(to_json(parameter));
  result["counters"] = nlohmann::json::array();
  for (const Counter& counter : info.counters) {
    result["counters"].push_back({{"name", counter.name}, {"unit", counter.unit}, {"summary", counter.summary}});
  }
  result["facts"] = nlohmann::json::array();
  for (const Fact& fact : info.facts) {
    result["facts"].push_back({{"name", fact.name}, {"unit", fact.unit}, {"summary", fact.summary}});
  }
  return result;
}

}  // namespace nameplate
