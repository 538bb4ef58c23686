#include "machine/memory_budget.h"

#include <fmt/format.h>

#include "machine/size_text.h"
#include "probe/error.h"

namespace nameplate {

namespace {

constexpr std::int64_t kUsablePercent = 90;

std::optional<MemoryBudget> of_machine(const Machine& machine) {
  const std::string info = machine.root.text("/proc/meminfo").value_or("");
  const auto available = kibibytes_field(info, "MemAvailable");
  if (!available) return std::nullopt;
  return MemoryBudget{.free_bytes = *available,
                      .total_bytes = kibibytes_field(info, "MemTotal").value_or(machine.memory.total_bytes)};
}

}  // namespace

std::optional<MemoryBudget> read_memory_budget(const Machine& machine) {
  auto budget = of_machine(machine);
  const auto group = read_memory_left(machine.root, machine.limits);
  if (group && (!budget || group->left_bytes < budget->free_bytes)) {
    budget = {.free_bytes = group->left_bytes, .total_bytes = group->limit_bytes, .of_group = true};
  }
  if (budget) budget->usable_bytes = budget->free_bytes / 100 * kUsablePercent;
  return budget;
}

void require_memory(std::int64_t bytes, const Machine& machine, const std::string& consumer) {
  const auto budget = read_memory_budget(machine);
  if (!budget || bytes <= budget->usable_bytes) return;
  const std::string owner = budget->of_group ? "the control group's limit of" : "the machine's";
  const std::string reason = fmt::format(
      "{} would take {} of memory, but {} of {} {} are free and {} % of that may be used; choose a size "
      "that takes at most {}",
      consumer, size_text(bytes), size_text(budget->free_bytes), owner, size_text(budget->total_bytes), kUsablePercent,
      size_text(budget->usable_bytes));
  if (bytes <= budget->total_bytes / 100 * kUsablePercent) refuse_for_now(reason);
  refuse(reason);
}

}  // namespace nameplate
