#include "machine/size_text.h"

#include <fmt/format.h>

#include <array>

namespace nameplate {

std::string size_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= kStep && unit + 1 < kUnits.size(); ++unit) size /= kStep;
  return fmt::format("{:.4g} {}", size, kUnits.at(unit));
}

}  // namespace nameplate
