#include "machine/container.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <utility>

namespace nameplate {

namespace {

struct Trace {
  const char* name;
  const char* container;
};

// Returns the value of a variable in a process's environment; nothing if it is not set or may not be read.
std::optional<std::string> variable(const Root& root, const std::string& process, const std::string& name) {
  const auto raw = root.bytes("/proc/" + process + "/environ");
  if (!raw) return std::nullopt;
  std::istringstream variables(std::string(raw->begin(), raw->end()));
  for (std::string entry; std::getline(variables, entry, '\0');) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

// The kernel numbers its first namespaces so (include/linux/proc_ns.h). A virtual machine whose disk was made from the
// image of a container has the files of that container, and is none.
bool is_in_first_namespaces(const Root& root) {
  static constexpr std::array<std::pair<const char*, const char*>, 3> kFirst = {
      {{"ipc", "ipc:[4026531839]"}, {"pid", "pid:[4026531836]"}, {"uts", "uts:[4026531838]"}}};
  return std::ranges::all_of(kFirst, [&root](const auto& first) {
    return root.link(std::string("/proc/self/ns/") + first.first) == first.second;
  });
}

bool is_set(const std::optional<std::string>& value) { return value && !value->empty(); }

}  // namespace

// The traces are those of the programs' own documentation and of systemd-detect-virt (src/basic/virt.c). The runtimes
// of clusters come first: they may be started inside another container.
std::optional<std::string> read_container(const Root& root) {
  static constexpr std::array<Trace, 4> kVariables = {{{"APPTAINER_CONTAINER", "apptainer"},
                                                       {"SINGULARITY_CONTAINER", "singularity"},
                                                       {"CH_RUNNING", "charliecloud"},
                                                       {"SHIFTER_RUNTIME", "shifter"}}};
  static constexpr std::array<Trace, 2> kFiles = {{{"/run/.containerenv", "podman"}, {"/.dockerenv", "docker"}}};
  for (const auto& [name, container] : kVariables) {
    if (variable(root, "self", name)) return container;
  }
  // Kubernetes runs its containers by another runtime, which also leaves a trace.
  if (variable(root, "self", "KUBERNETES_SERVICE_HOST")) return "kubernetes";
  if (auto named = variable(root, "self", "container"); is_set(named)) return named;
  for (const auto& [name, container] : kFiles) {
    if (root.exists(name) && !is_in_first_namespaces(root)) return container;
  }
  if (auto named = variable(root, "1", "container"); is_set(named)) return named;
  auto named = root.text("/run/systemd/container");
  return is_set(named) ? named : std::nullopt;
}

std::vector<std::string> read_blocked_calls(const Root& root) {
  if (!root.is_this_machine()) return {};
  // Without memory for an answer, a call that is allowed fails with EFAULT; mbind of no bytes does nothing.
  const std::array<std::pair<const char*, long>, 3> results = {
      {{"io_setup", syscall(SYS_io_setup, 0, nullptr) < 0 ? errno : 0},
       {"io_uring_setup", syscall(SYS_io_uring_setup, 0, nullptr) < 0 ? errno : 0},
       {"mbind", syscall(SYS_mbind, nullptr, 0, MPOL_DEFAULT, nullptr, 0, 0) < 0 ? errno : 0}}};
  std::vector<std::string> blocked;
  for (const auto& [name, error] : results) {
    if (error == EPERM || error == EACCES || error == ENOSYS) blocked.emplace_back(name);
  }
  return blocked;
}

}  // namespace nameplate
