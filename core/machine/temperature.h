// How hot the processors are, by their own sensors (hwmon of sysfs, or a thermal zone), which most guests do not have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

class Thermometer {
 public:
  // Finds the sensors: one for each processor package, never a disk's, which would have to be asked.
  explicit Thermometer(const Root& root);

  // Of the hottest package, in degrees Celsius; nothing where there is no sensor that can be read.
  std::optional<double> read() const;

 private:
  Root root_;
  std::vector<std::string> paths_;  // each holds thousandths of a degree
};

}  // namespace nameplate
