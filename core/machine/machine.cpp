#include "machine/machine.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include "machine/container.h"
#include "machine/cpu.h"
#include "machine/cpuid.h"
#include "machine/emulation.h"
#include "machine/page_size.h"

namespace nameplate {

namespace {

// "always [madvise] never" means madvise.
std::string bracketed(const std::string& text) {
  const auto open = text.find('[');
  const auto close = text.find(']');
  if (open == std::string::npos || close == std::string::npos) return "";
  return text.substr(open + 1, close - open - 1);
}

// Returns the memory that the kernel counts, where a sandbox hides /proc/meminfo; 0 for a recorded machine.
std::int64_t counted_memory(const Root& root) {
  struct sysinfo counts {};
  if (!root.is_this_machine() || sysinfo(&counts) != 0) return 0;
  return static_cast<std::int64_t>(counts.totalram) * counts.mem_unit;
}

Memory read_memory(const Root& root) {
  const std::string info = root.text("/proc/meminfo").value_or("");
  const auto swap_bytes = kibibytes_field(info, "SwapTotal");
  const auto swap_free_bytes = kibibytes_field(info, "SwapFree");
  const auto total_bytes = kibibytes_field(info, "MemTotal");
  return {.total_bytes = total_bytes ? *total_bytes : counted_memory(root),
          .available_bytes = kibibytes_field(info, "MemAvailable"),
          .swap_bytes = swap_bytes,
          .swap_used_bytes = swap_bytes && swap_free_bytes
                                 ? std::optional(std::max<std::int64_t>(0, *swap_bytes - *swap_free_bytes))
                                 : std::nullopt,
          .page_bytes = static_cast<std::int64_t>(page_bytes()),
          .transparent_huge_pages = bracketed(root.text("/sys/kernel/mm/transparent_hugepage/enabled").value_or("")),
          .modules = read_memory_modules(root)};
}

std::string read_distribution(const Root& root) {
  std::istringstream lines(root.text("/etc/os-release").value_or(""));
  const std::string key = "PRETTY_NAME=\"";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key)) return line.substr(key.size(), line.size() - key.size() - 1);
  }
  return "";
}

std::optional<std::string> read_product(const Root& root) {
  const auto vendor = root.text("/sys/class/dmi/id/sys_vendor");
  const auto product = root.text("/sys/class/dmi/id/product_name");
  if (!vendor && !product) return std::nullopt;
  return vendor.value_or("") + " " + product.value_or("");
}

// Returns whether the CPU reports that it runs a guest; nothing if it reports neither. /proc/cpuinfo may be hidden,
// which CPUID is not, and a recorded machine may lack CPUID.
std::optional<bool> is_guest_by_cpu(const Root& root, const Cpu& cpu) {
  constexpr std::uint32_t kFeatures = 1;
  constexpr std::uint32_t kIsGuest = 1U << 31;
  if (std::ranges::find(cpu.flags, "hypervisor") != cpu.flags.end()) return true;
  if (const auto features = cpuid_of(root)(kFeatures, 0)) return (features->ecx & kIsGuest) != 0;
  return cpu.architecture == "x86_64" && !cpu.flags.empty() ? std::optional(false) : std::nullopt;
}

struct Hypervisor {
  std::optional<std::string> name;
  bool is_known = true;
};

// The CPU reports that there is a hypervisor; the DMI or the paravirtual clock tells which one.
Hypervisor read_hypervisor(const Root& root, const Cpu& cpu, const std::optional<std::string>& product) {
  static const std::array<std::pair<const char*, const char*>, 7> kByProduct = {{{"QEMU", "kvm"},
                                                                                 {"KVM", "kvm"},
                                                                                 {"Amazon EC2", "kvm"},
                                                                                 {"Google", "kvm"},
                                                                                 {"VMware", "vmware"},
                                                                                 {"VirtualBox", "virtualbox"},
                                                                                 {"Microsoft", "hyperv"}}};
  const std::optional<bool> is_guest = is_guest_by_cpu(root, cpu);
  const auto product_says = [&product](const char* word) {
    return product && product->find(word) != std::string::npos;
  };
  // Arm has no such flag. Amazon's and Google's names also occur on bare metal and servers, with the exceptions listed
  // here.
  const bool guest_by_product =
      product_says("KVM") || product_says("QEMU") || product_says("VMware") || product_says("Google Compute Engine") ||
      product_says("Microsoft Corporation Virtual") || (product_says("Amazon EC2") && !product_says(".metal"));
  if (!is_guest.value_or(false) && !guest_by_product) return {.name = {}, .is_known = is_guest || product};
  for (const auto& [word, name] : kByProduct) {
    if (product_says(word)) return {.name = name};
  }
  if (auto type = root.text("/sys/hypervisor/type")) return {.name = std::move(type)};
  const auto sources = root.text("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  if (sources && sources->find("kvm-clock") != std::string::npos) return {.name = "kvm"};
  if (sources && sources->find("hyperv") != std::string::npos) return {.name = "hyperv"};
  return {.name = "unknown"};
}

// Returns the names of the CPU's vulnerabilities with this status; nothing if the kernel lists none.
std::optional<std::vector<std::string>> vulnerabilities(const Root& root, const std::string& word) {
  const std::string directory = "/sys/devices/system/cpu/vulnerabilities";
  if (!root.exists(directory)) return std::nullopt;
  std::vector<std::string> result;
  for (const std::string& name : root.names(directory)) {
    const std::string status = root.text(directory + "/" + name).value_or("");
    if (status.starts_with(word) || status.starts_with("KVM: " + word)) result.push_back(name);
  }
  return result;
}

nlohmann::json json_of(const Cpu& cpu) {
  nlohmann::json result = {
      {"architecture", cpu.architecture}, {"vendor", cpu.vendor}, {"model", cpu.model}, {"flags", cpu.flags}};
  const auto put = [&result](const char* name, const auto& value) {
    if (value) {
      result[name] = *value;
    } else {
      result[name] = nullptr;
    }
  };
  put("family_number", cpu.family_number);
  put("model_number", cpu.model_number);
  put("stepping", cpu.stepping);
  put("listed_frequency_hz", cpu.listed_frequency_hz);
  put("base_frequency_hz", cpu.base_frequency_hz);
  put("maximum_frequency_hz", cpu.maximum_frequency_hz);
  put("governor", cpu.governor);
  put("turbo", cpu.turbo);
  put("smt", cpu.smt);
  return result;
}

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json json_of(const MemoryModules& modules) {
  if (modules.status != ModulesStatus::read) return nullptr;
  nlohmann::json result = nlohmann::json::array();
  for (const MemoryModule& module : modules.modules) {
    result.push_back({{"locator", module.locator},
                      {"bank", module.bank},
                      {"size_bytes", or_null(module.size_bytes)},
                      {"width_bits", or_null(module.width_bits)},
                      {"rated_transfers_per_s", or_null(module.rated_transfers_per_s)},
                      {"configured_transfers_per_s", or_null(module.configured_transfers_per_s)},
                      {"type", or_null(module.type)}});
  }
  return result;
}

nlohmann::json json_of(const Memory& memory) {
  return {{"total_bytes", memory.total_bytes},
          {"available_bytes", or_null(memory.available_bytes)},
          {"swap_bytes", or_null(memory.swap_bytes)},
          {"swap_used_bytes", or_null(memory.swap_used_bytes)},
          {"page_bytes", memory.page_bytes},
          {"transparent_huge_pages", memory.transparent_huge_pages},
          {"modules_status", to_string(memory.modules.status)},
          {"modules", json_of(memory.modules)}};
}

nlohmann::json json_of(const std::vector<CpuidCache>& caches) {
  nlohmann::json result = nlohmann::json::array();
  for (const CpuidCache& cache : caches) {
    result.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"size_bytes", cache.size_bytes},
                      {"line_bytes", cache.line_bytes},
                      {"ways", cache.ways},
                      {"shared_by", cache.shared_by}});
  }
  return result;
}

nlohmann::json json_of(const Topology& topology) {
  nlohmann::json caches = nlohmann::json::array();
  for (const Cache& cache : topology.caches) {
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"size_bytes", cache.size_bytes},
                      {"line_bytes", cache.line_bytes},
                      {"ways", cache.ways},
                      {"count", cache.count},
                      {"shared_by", cache.shared_by}});
  }
  nlohmann::json nodes = nlohmann::json::array();
  for (const NumaNode& node : topology.numa_nodes) nodes.push_back({{"index", node.index}, {"cpus", node.cpus}});
  nlohmann::json kinds = nlohmann::json::array();
  for (const CoreKind& kind : topology.core_kinds) {
    kinds.push_back({{"name", kind.name}, {"cores", kind.cores}, {"maximum_frequency_hz", kind.maximum_frequency_hz}});
  }
  return {{"packages", topology.packages},
          {"cores", topology.cores},
          {"threads", topology.threads},
          {"are_cores_listed", topology.are_cores_listed},
          {"caches", caches},
          {"cpuid_caches", json_of(topology.cpuid_caches)},
          {"numa_nodes", nodes},
          {"core_kinds", kinds},
          {"allowed_cpus", topology.allowed.cpus},
          {"allowed_cores", topology.allowed.cores}};
}

}  // namespace

unsigned Machine::default_threads() const {
  const unsigned cores = std::max(1U, topology.allowed.cores);
  if (!limits.cpus) return cores;
  const auto quota = static_cast<unsigned>(std::max(1.0, std::floor(*limits.cpus)));
  return std::min(cores, quota);
}

Machine read_machine(const Root& root) {
  Machine machine;
  machine.root = root;
  // In a container of Kubernetes the host name is that of the pod.
  const char* const node = std::getenv("NAMEPLATE_NODE");
  machine.hostname = node != nullptr && *node != '\0' ? node : root.text("/proc/sys/kernel/hostname").value_or("");
  machine.boot_id = root.text("/proc/sys/kernel/random/boot_id").value_or("");
  machine.kernel = root.text("/proc/sys/kernel/osrelease").value_or("");
  machine.distribution = read_distribution(root);
  machine.cpu = read_cpu(root);
  machine.memory = read_memory(root);
  machine.topology = read_topology(root);
  machine.limits = read_limits(root);
  machine.product = read_product(root);
  Hypervisor hypervisor = read_hypervisor(root, machine.cpu, machine.product);
  machine.hypervisor = std::move(hypervisor.name);
  machine.is_hypervisor_known = hypervisor.is_known;
  machine.emulator = read_emulator(root, machine.cpu.architecture);
  machine.container = read_container(root);
  machine.blocked_calls = read_blocked_calls(root);
  machine.vulnerable_to = vulnerabilities(root, "Vulnerable");
  machine.mitigated = vulnerabilities(root, "Mitigation");
  machine.power = read_power(root);
  machine.load_1min = root.real("/proc/loadavg");
  return machine;
}

nlohmann::json to_json(const Machine& machine) {
  return {{"hostname", machine.hostname},
          {"boot_id", machine.boot_id},
          {"kernel", machine.kernel},
          {"distribution", machine.distribution},
          {"hypervisor", or_null(machine.hypervisor)},
          {"is_hypervisor_known", machine.is_hypervisor_known},
          {"emulator", or_null(machine.emulator)},
          {"container", or_null(machine.container)},
          {"blocked_calls", machine.blocked_calls},
          {"product", or_null(machine.product)},
          {"vulnerable_to", or_null(machine.vulnerable_to)},
          {"mitigated", or_null(machine.mitigated)},
          {"load_1min", or_null(machine.load_1min)},
          {"power",
           {{"on_battery", or_null(machine.power.on_battery)},
            {"is_visible", machine.power.is_visible},
            {"profile", or_null(machine.power.profile)}}},
          {"cpu", json_of(machine.cpu)},
          {"memory", json_of(machine.memory)},
          {"topology", json_of(machine.topology)},
          {"limits",
           {{"cgroup_version", machine.limits.cgroup_version},
            {"are_visible", machine.limits.are_visible},
            {"cpus", or_null(machine.limits.cpus)},
            {"memory_bytes", or_null(machine.limits.memory_bytes)},
            {"memory_available_bytes", or_null(machine.limits.memory_available_bytes)}}},
          {"default_threads", machine.default_threads()}};
}

}  // namespace nameplate
