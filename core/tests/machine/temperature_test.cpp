#include "machine/temperature.h"

#include "tests/machine/fake_root.h"

namespace nameplate {
namespace {

TEST_F(FakeRoot, UsesTheHottestPackageAndNoDisk) {
  put("/sys/class/hwmon/hwmon0/name", "nvme");
  put("/sys/class/hwmon/hwmon0/temp1_input", "90000");
  put("/sys/class/hwmon/hwmon1/name", "coretemp");
  put("/sys/class/hwmon/hwmon1/temp1_input", "61500");
  put("/sys/class/hwmon/hwmon2/name", "coretemp");
  put("/sys/class/hwmon/hwmon2/temp1_input", "64000");
  put("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp");
  put("/sys/class/thermal/thermal_zone0/temp", "99000");
  EXPECT_DOUBLE_EQ(Thermometer(root()).read().value(), 64);
}

TEST_F(FakeRoot, UsesAThermalZoneWithoutADriversSensor) {
  put("/sys/class/thermal/thermal_zone0/type", "acpitz");
  put("/sys/class/thermal/thermal_zone0/temp", "27800");
  put("/sys/class/thermal/thermal_zone1/type", "cpu-thermal");
  put("/sys/class/thermal/thermal_zone1/temp", "51250");
  EXPECT_DOUBLE_EQ(Thermometer(root()).read().value(), 51.25);
}

TEST_F(FakeRoot, HasNoTemperatureWithoutAReadableSensor) {
  EXPECT_FALSE(Thermometer(root()).read());
  put("/sys/class/hwmon/hwmon0/name", "k10temp");
  put("/sys/class/hwmon/hwmon0/temp1_input", "40000");
  const Thermometer thermometer(root());
  std::filesystem::remove(path("/sys/class/hwmon/hwmon0/temp1_input"));
  EXPECT_FALSE(thermometer.read());
}

}  // namespace
}  // namespace nameplate
