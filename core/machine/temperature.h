// The temperature of the processors, from their own sensors (hwmon in sysfs, or a thermal zone), which most guests
// lack.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

class Thermometer {
 public:
  // Finds one sensor per processor package, and none of a disk, which would have to be queried.
  explicit Thermometer(const Root& root);

  // Returns the temperature of the hottest package in degrees Celsius; nothing if no sensor can be read.
  std::optional<double> read() const;

 private:
  Root root_;
  std::vector<std::string> paths_;  // each contains thousandths of a degree
};

}  // namespace nameplate
