#include "machine/temperature.h"

#include <algorithm>
#include <array>

namespace nameplate {

namespace {

// The drivers whose first sensor is that of the package (Documentation/hwmon: coretemp, k10temp; zenpower is out of
// tree).
constexpr std::array<const char*, 4> kDrivers = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
constexpr std::array<const char*, 3> kZones = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal"};

// Returns the paths of the values in those entries of a directory whose `file` contains one of `names`.
template <class Names>
std::vector<std::string> find(const Root& root, const std::string& directory, const std::string& file,
                              const Names& names, const std::string& value) {
  std::vector<std::string> result;
  for (const std::string& entry : root.names(directory)) {
    const std::string path = directory + "/" + entry + "/";
    const auto name = root.text(path + file);
    if (name && std::ranges::find(names, *name) != names.end() && root.number(path + value)) {
      result.push_back(path + value);
    }
  }
  return result;
}

}  // namespace

Thermometer::Thermometer(const Root& root)
    : root_(root), paths_(find(root, "/sys/class/hwmon", "name", kDrivers, "temp1_input")) {
  if (paths_.empty()) paths_ = find(root, "/sys/class/thermal", "type", kZones, "temp");
}

std::optional<double> Thermometer::read() const {
  constexpr double kThousandth = 1e-3;
  std::optional<double> hottest;
  for (const std::string& path : paths_) {
    if (const auto now = root_.number(path)) {
      hottest =
          std::max(hottest.value_or(static_cast<double>(*now) * kThousandth), static_cast<double>(*now) * kThousandth);
    }
  }
  return hottest;
}

}  // namespace nameplate
