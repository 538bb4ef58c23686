#include "machine/power.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace nameplate {
namespace {

class PowerTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void supply(const std::string& name, const std::map<std::string, std::string>& files) const {
    const auto directory = directory_ / "sys/class/power_supply" / name;
    std::filesystem::create_directories(directory);
    for (const auto& [file, text] : files) std::ofstream(directory / file) << text << '\n';
  }

  Power read() const { return read_power(Root(directory_.string())); }

  const std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) /
      ("power-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(PowerTest, AMachineWithoutAPowerSupplyEntryIsUnknown) {
  EXPECT_EQ(read().on_battery, std::nullopt);
  EXPECT_EQ(read().profile, std::nullopt);
}

TEST_F(PowerTest, ASystemThatHidesItsClassesIsNotVisible) {
  EXPECT_FALSE(read().is_visible);
  supply("AC", {{"type", "Mains"}});
  EXPECT_TRUE(read().is_visible);
}

TEST_F(PowerTest, APluggedInAdapterMeansMainsPower) {
  supply("AC", {{"type", "Mains"}, {"online", "1"}});
  supply("BAT0", {{"type", "Battery"}, {"status", "Discharging"}});
  EXPECT_EQ(read().on_battery, false);
}

TEST_F(PowerTest, ADischargingBatteryMeansBatteryPower) {
  supply("AC", {{"type", "Mains"}, {"online", "0"}});
  supply("BAT0", {{"type", "Battery"}, {"status", "Discharging"}});
  EXPECT_EQ(read().on_battery, true);
  supply("BAT0", {{"type", "Battery"}, {"status", "Full"}});
  EXPECT_EQ(read().on_battery, false);
}

TEST_F(PowerTest, AStateThatTheHardwareDoesNotTellIsUnknown) {
  supply("AC", {{"type", "Mains"}});
  EXPECT_EQ(read().on_battery, std::nullopt);
  supply("BAT0", {{"type", "Battery"}, {"status", "Unknown"}});
  EXPECT_EQ(read().on_battery, std::nullopt);
  supply("BAT1", {{"type", "Battery"}});
  EXPECT_EQ(read().on_battery, std::nullopt);
  supply("BAT1", {{"type", "Battery"}, {"status", "Discharging"}});
  EXPECT_EQ(read().on_battery, true);
}

TEST_F(PowerTest, TheBatteryOfAMouseIsIgnored) {
  supply("hidpp_battery_0", {{"type", "Battery"}, {"scope", "Device"}, {"status", "Discharging"}});
  EXPECT_EQ(read().on_battery, std::nullopt);
}

TEST_F(PowerTest, TheProfileIsThatOfTheFirmware) {
  std::filesystem::create_directories(directory_ / "sys/firmware/acpi");
  std::ofstream(directory_ / "sys/firmware/acpi/platform_profile") << "low-power\n";
  EXPECT_EQ(read().profile, "low-power");
}

}  // namespace
}  // namespace nameplate
