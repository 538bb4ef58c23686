#include "machine/topology.h"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/cpu_bitmap.h"
#include "machine/recorded_files.h"

namespace nameplate {

namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, DestroyTopology>;

struct FreeText {
  void operator()(char* text) const { std::free(text); }  // NOLINT: hwloc allocates it with malloc
};

// With variables of its own, hwloc takes the topology from a file or a text instead of from this system, or loads other
// plugins; some jobs have them (Flux sets HWLOC_XMLFILE). "-x86" stays: it is hwloc's own remedy for hypervisors whose
// CPUID is wrong, and leaves what the kernel says.
void remove_hwloc_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (!variable.starts_with("HWLOC_") || variable == "HWLOC_COMPONENTS=-x86") continue;
    if (const std::string name = variable.substr(0, variable.find('=')); name != "HWLOC_HIDE_ERRORS") {
      names.push_back(name);
    }
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

TopologyHandle new_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::runtime_error("hwloc cannot start");
  TopologyHandle topology(raw);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  // CPUs excluded by a cpuset are still part of the machine; read_placement() leaves them out.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return topology;
}

// Of a recorded machine whose files do not show which hardware threads share a core, hwloc reads nothing.
TopologyHandle load_flat(const Root& root) {
  const auto names = root.names("/sys/devices/system/cpu");
  const auto cpus = std::ranges::count_if(names, [](const std::string& name) {
    return name.starts_with("cpu") && name.find_first_not_of("0123456789", 3) == std::string::npos && name.size() > 3;
  });
  remove_hwloc_variables();
  TopologyHandle topology = new_topology();
  if (cpus == 0 || hwloc_topology_set_synthetic(topology.get(), ("pu:" + std::to_string(cpus)).c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw std::runtime_error("hwloc cannot read the machine's topology");
  }
  return topology;
}

TopologyHandle load(const Root& root) {
  remove_hwloc_variables();
  if (!root.is_this_machine()) {
    check_recorded_files(root);
    // hwloc takes another root only from its environment; without "stop" it would also query this machine's CPUID.
    setenv("HWLOC_FSROOT", root.directory().c_str(), 1);
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
  }
  TopologyHandle topology = new_topology();
  return hwloc_topology_load(topology.get()) == 0 ? std::move(topology) : load_flat(root);
}

int count_of(hwloc_topology_t topology, hwloc_obj_type_t type) { return hwloc_get_nbobjs_by_type(topology, type); }

std::string cpu_list(hwloc_const_bitmap_t cpus) {
  char* text = nullptr;
  hwloc_bitmap_list_asprintf(&text, cpus);
  const std::unique_ptr<char, FreeText> owned(text);
  return owned ? owned.get() : "";
}

std::string cache_type(hwloc_obj_cache_type_t type) {
  if (type == HWLOC_OBJ_CACHE_DATA) return "data";
  return type == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction" : "unified";
}

// Equal caches (level, type, size and sharing) are one entry with a count; a hybrid CPU has several entries per level.
std::vector<Cache> read_caches(hwloc_topology_t topology) {
  std::map<std::tuple<int, std::string, std::int64_t, int>, Cache> entries;
  for (hwloc_obj_type_t type :
       {HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
    for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
      const auto& attributes = object->attr->cache;
      Cache cache{.level = static_cast<int>(attributes.depth),
                  .type = cache_type(attributes.type),
                  .size_bytes = static_cast<std::int64_t>(attributes.size),
                  .line_bytes = static_cast<std::int64_t>(attributes.linesize),
                  .ways = attributes.associativity,
                  .count = 0,
                  .shared_by = hwloc_bitmap_weight(object->cpuset)};
      auto& entry =
          entries.try_emplace({cache.level, cache.type, cache.size_bytes, cache.shared_by}, cache).first->second;
      ++entry.count;
    }
  }
  std::vector<Cache> result;
  for (auto& [key, cache] : entries) result.push_back(std::move(cache));
  return result;
}

std::vector<NumaNode> read_numa_nodes(hwloc_topology_t topology) {
  std::vector<NumaNode> result;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr;) {
    result.push_back({.index = static_cast<int>(object->os_index),
                      .cpus = cpu_list(object->cpuset),
                      .memory_bytes = static_cast<std::int64_t>(object->attr->numanode.local_memory)});
  }
  return result;
}

// Returns the cores in hwloc's order. Kernels of some Arm guests, and sandboxes, do not show which hardware threads
// share a core: such a thread counts as a core.
std::vector<hwloc_obj_t> cores_of(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> result;
  for (hwloc_obj_t thread = nullptr;
       (thread = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, thread)) != nullptr;) {
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, thread);
    if (core == nullptr) core = thread;
    if (result.empty() || result.back() != core) result.push_back(core);
  }
  return result;
}

int cores_in(hwloc_topology_t topology, hwloc_const_bitmap_t cpus) {
  return static_cast<int>(std::ranges::count_if(
      cores_of(topology), [cpus](hwloc_obj_t core) { return hwloc_bitmap_intersects(core->cpuset, cpus) != 0; }));
}

// hwloc names Intel's kinds of cores only with CPUID, which a recorded machine lacks; the kernel lists them too.
std::string listed_kind(const Root& root, hwloc_const_bitmap_t cpus) {
  static const std::array<std::pair<const char*, const char*>, 2> kLists = {
      {{"/sys/devices/cpu_core/cpus", "IntelCore"}, {"/sys/devices/cpu_atom/cpus", "IntelAtom"}}};
  for (const auto& [path, name] : kLists) {
    const CpuBitmap listed(hwloc_bitmap_alloc());
    hwloc_bitmap_list_sscanf(listed.get(), root.text(path).value_or("").c_str());
    if (hwloc_bitmap_isincluded(cpus, listed.get()) != 0) return name;
  }
  return "";
}

CoreKind read_core_kind(hwloc_topology_t topology, const Root& root, unsigned index) {
  constexpr std::int64_t kMegahertz = 1'000'000;
  const CpuBitmap cpus(hwloc_bitmap_alloc());
  int efficiency = 0;
  unsigned info_count = 0;
  hwloc_info_s* infos = nullptr;
  hwloc_cpukinds_get_info(topology, index, cpus.get(), &efficiency, &info_count, &infos, 0);
  CoreKind kind{.name = "", .cores = cores_in(topology, cpus.get())};
  for (unsigned i = 0; i < info_count; ++i) {
    const std::string name = infos[i].name;
    if (name == "CoreType") kind.name = infos[i].value;
    if (name == "FrequencyMaxMHz") kind.maximum_frequency_hz = std::atoll(infos[i].value) * kMegahertz;
  }
  if (kind.name.empty()) kind.name = listed_kind(root, cpus.get());
  return kind;
}

std::vector<CoreKind> read_core_kinds(hwloc_topology_t topology, const Root& root) {
  std::vector<CoreKind> result;
  const int kinds = hwloc_cpukinds_get_nr(topology, 0);
  for (int i = 0; i < kinds; ++i) result.push_back(read_core_kind(topology, root, static_cast<unsigned>(i)));
  return result;
}

// Kinds of cores differ in their caches, and each answers CPUID for itself.
std::vector<CpuidCache> read_cpuid(const Root& root, const Topology& topology) {
  std::optional<ScopedBinding> binding;
  if (root.is_this_machine() && topology.core_kinds.size() > 1) binding.emplace(topology.allowed.cpu_of(0));
  return read_cpuid_caches(root);
}

// The kernel applies cpusets to the affinity mask, which also shows those whose files hwloc does not find.
CpuBitmap allowed_cpus(hwloc_topology_t topology, const Root& root) {
  CpuMask mask{};
  if (!root.is_this_machine() || sched_getaffinity(0, sizeof mask, mask.data()) != 0) {
    return CpuBitmap(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  }
  CpuBitmap allowed(hwloc_bitmap_alloc());
  for (unsigned cpu = 0; cpu < sizeof mask * CHAR_BIT; ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof mask, mask.data())) hwloc_bitmap_set(allowed.get(), cpu);
  }
  return allowed;
}

// Returns the CPUs of the process that hwloc does not know: without sysfs, it numbers as many CPUs as it may use from
// 0.
CpuBitmap unlisted_cpus(hwloc_topology_t topology, hwloc_const_bitmap_t allowed) {
  CpuBitmap unlisted(hwloc_bitmap_alloc());
  hwloc_bitmap_andnot(unlisted.get(), allowed, hwloc_topology_get_topology_cpuset(topology));
  return unlisted;
}

// Takes each core's first allowed hardware thread, then each core's second, and so on: workers fill cores before
// siblings. The fastest kind of core comes first; hwloc sorts kinds by efficiency class, most efficient (slowest)
// first.
Placement read_placement(hwloc_topology_t topology, hwloc_const_bitmap_t allowed) {
  Placement placement;
  std::multimap<std::pair<int, int>, unsigned> by_rank;
  for (hwloc_obj_t core : cores_of(topology)) {
    const CpuBitmap usable(hwloc_bitmap_dup(core->cpuset));
    hwloc_bitmap_and(usable.get(), usable.get(), allowed);
    if (hwloc_bitmap_iszero(usable.get()) != 0) continue;
    ++placement.cores;
    const int kind = hwloc_cpukinds_get_by_cpuset(topology, usable.get(), 0);
    int rank = 0;
    for (int cpu = hwloc_bitmap_first(usable.get()); cpu != -1; cpu = hwloc_bitmap_next(usable.get(), cpu)) {
      by_rank.emplace(std::pair{rank++, -kind}, static_cast<unsigned>(cpu));
    }
  }
  const CpuBitmap unlisted = unlisted_cpus(topology, allowed);
  for (int cpu = hwloc_bitmap_first(unlisted.get()); cpu != -1; cpu = hwloc_bitmap_next(unlisted.get(), cpu)) {
    ++placement.cores;
    by_rank.emplace(std::pair{0, 0}, static_cast<unsigned>(cpu));
  }
  for (const auto& [rank, cpu] : by_rank) placement.cpus.push_back(cpu);
  return placement;
}

}  // namespace

Topology read_topology(const Root& root) {
  const TopologyHandle handle = load(root);
  hwloc_topology_t topology = handle.get();
  Topology result;
  result.packages = count_of(topology, HWLOC_OBJ_PACKAGE);
  const CpuBitmap allowed = allowed_cpus(topology, root);
  const int unlisted = hwloc_bitmap_weight(unlisted_cpus(topology, allowed.get()).get());
  const std::vector<hwloc_obj_t> cores = cores_of(topology);
  result.cores = static_cast<int>(cores.size()) + unlisted;
  result.threads = count_of(topology, HWLOC_OBJ_PU) + unlisted;
  result.are_cores_listed =
      unlisted == 0 && std::ranges::all_of(cores, [](hwloc_obj_t core) { return core->type == HWLOC_OBJ_CORE; });
  result.caches = read_caches(topology);
  result.numa_nodes = read_numa_nodes(topology);
  result.core_kinds = read_core_kinds(topology, root);
  result.allowed = read_placement(topology, allowed.get());
  if (result.allowed.cpus.empty()) throw std::runtime_error("this process is not allowed to use any CPU");
  result.cpuid_caches = read_cpuid(root, result);
  return result;
}

}  // namespace nameplate
