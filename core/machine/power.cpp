#include "machine/power.h"

#include <algorithm>
#include <vector>

namespace nameplate {
namespace {

// A mains adapter that is online decides; without any, a battery that discharges does. Batteries of mice and keyboards
// have the scope "Device".
std::optional<bool> is_on_battery(const Root& root) {
  const std::string directory = "/sys/class/power_supply";
  std::vector<bool> mains;
  bool is_drained = false;
  bool has_battery = false;
  for (const std::string& name : root.names(directory)) {
    const std::string supply = directory + "/" + name;
    if (root.text(supply + "/scope").value_or("") == "Device") continue;
    const std::string type = root.text(supply + "/type").value_or("");
    if (type == "Mains" || type == "USB") mains.push_back(root.number(supply + "/online").value_or(0) == 1);
    if (type != "Battery") continue;
    has_battery = true;
    is_drained = is_drained || root.text(supply + "/status").value_or("") == "Discharging";
  }
  if (std::ranges::find(mains, true) != mains.end()) return false;
  if (has_battery) return is_drained;
  return std::nullopt;
}

}  // namespace

Power read_power(const Root& root) {
  return {.on_battery = is_on_battery(root), .profile = root.text("/sys/firmware/acpi/platform_profile")};
}

}  // namespace nameplate
