#include "machine/power.h"

#include <algorithm>
#include <vector>

namespace nameplate {
namespace {

// A mains adapter that is online decides; without any, a battery that discharges does. Batteries of mice and keyboards
// have the scope "Device". The kernel itself writes "Unknown" for a status that the hardware does not report.
std::optional<bool> is_on_battery(const Root& root) {
  const std::string directory = "/sys/class/power_supply";
  std::vector<std::string> batteries;
  for (const std::string& name : root.names(directory)) {
    const std::string supply = directory + "/" + name;
    if (root.text(supply + "/scope").value_or("") == "Device") continue;
    const std::string type = root.text(supply + "/type").value_or("");
    if ((type == "Mains" || type == "USB") && root.number(supply + "/online") == 1) return false;
    if (type == "Battery") batteries.push_back(root.text(supply + "/status").value_or("Unknown"));
  }
  if (std::ranges::find(batteries, "Discharging") != batteries.end()) return true;
  const bool are_known = std::ranges::find(batteries, "Unknown") == batteries.end();
  return batteries.empty() || !are_known ? std::nullopt : std::optional(false);
}

}  // namespace

Power read_power(const Root& root) {
  return {.on_battery = is_on_battery(root),
          .is_visible = root.exists("/sys/class"),
          .profile = root.text("/sys/firmware/acpi/platform_profile")};
}

}  // namespace nameplate
