// Everything that is known about the machine before anything is measured.
//
// It identifies neither a person nor a unit: no serial number, UUID, hardware or network address.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine/dmi.h"
#include "machine/limits.h"
#include "machine/power.h"
#include "machine/root.h"
#include "machine/topology.h"

namespace nameplate {

struct Cpu {
  std::string architecture;  // x86_64, aarch64
  std::string vendor;
  std::string model;
  // The CPUID signature of an x86 CPU, which tells the generation where a hypervisor hides the model's name.
  std::optional<int> family_number;
  std::optional<int> model_number;
  std::optional<int> stepping;
  std::vector<std::string> flags;              // as /proc/cpuinfo lists them
  std::optional<double> listed_frequency_hz;   // "cpu MHz" of /proc/cpuinfo
  std::optional<double> base_frequency_hz;     // from cpufreq, or the "@ 2.40GHz" of the model name
  std::optional<double> maximum_frequency_hz;  // from cpufreq: with turbo
  std::optional<std::string> governor;
  std::optional<bool> turbo;
  std::optional<bool> smt;
};

struct Memory {
  std::int64_t total_bytes = 0;
  std::optional<std::int64_t> available_bytes;
  std::optional<std::int64_t> swap_bytes;
  std::optional<std::int64_t> swap_used_bytes;
  std::int64_t page_bytes = 0;
  std::string transparent_huge_pages;  // always, madvise or never; empty if unknown
  MemoryModules modules;
};

struct Machine {
  std::string hostname;
  std::string boot_id;  // random, new at each boot, so that it tells machines of one name apart; empty if unknown
  std::string kernel;
  std::string distribution;
  std::optional<std::string> hypervisor;                  // kvm, vmware, …; nothing if no hypervisor is detected
  bool is_hypervisor_known = true;                        // whether the system shows if there is one
  std::optional<std::string> emulator;                    // what emulates the CPU; nothing if a CPU runs this program
  std::optional<std::string> container;                   // docker, podman, …; nothing if no container is detected
  std::vector<std::string> blocked_calls;                 // system calls that probes use and this process may not make
  std::optional<std::string> product;                     // vendor and product name from the DMI
  std::optional<std::vector<std::string>> vulnerable_to;  // CPU vulnerabilities without a mitigation
  std::optional<std::vector<std::string>> mitigated;      // vulnerabilities whose mitigation costs time
  std::optional<double> load_1min;
  Power power;
  Cpu cpu;
  Memory memory;
  Topology topology;
  Limits limits;
  Root root;  // where all this was read, for values that change

  // Nodes of the job, including this one, that run the same experiment at the same time and compete for shared
  // resources, such as the free space of a file system.
  int nodes_at_once = 1;

  // Returns the physical cores that the affinity mask and the cgroup quota allow: the default number of workers.
  unsigned default_threads() const;
};

Machine read_machine(const Root& root);

nlohmann::json to_json(const Machine& machine);

}  // namespace nameplate
