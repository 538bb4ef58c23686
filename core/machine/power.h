// The machine's power source, and the preference of its firmware.
#pragma once

#include <optional>
#include <string>

#include "machine/root.h"

namespace nameplate {

struct Power {
  std::optional<bool>
      on_battery;          // nothing if no supply is shown, as in most servers and guests, or its state is unknown
  bool is_visible = true;  // whether the system shows what it knows: containers may hide /sys
  std::optional<std::string> profile;  // ACPI's platform profile: low-power, balanced, performance
};

// /sys/class/power_supply (Linux, Documentation/ABI/testing/sysfs-class-power) and /sys/firmware/acpi/platform_profile.
Power read_power(const Root& root);

}  // namespace nameplate
