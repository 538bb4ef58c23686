#include "disk/memory_mount.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>

#include "disk/file_system.h"
#include "machine/numa.h"
#include "probe/error.h"

namespace nameplate {

namespace {

std::string checked(const std::string& path) {
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  if (error) fail(fmt::format("path={}: {}", path, error.message()));
  if (!std::filesystem::is_directory(canonical, error)) fail(fmt::format("path={}: not a directory", path));
  return canonical.string();
}

std::vector<int> nodes_in_order(const Topology& topology) {
  std::vector<int> nodes;
  for (const NumaNode& node : topology.numa_nodes) nodes.push_back(node.index);
  std::ranges::sort(nodes);
  return nodes;
}

// The firmware's table: a row per node, with one number per node in order.
std::optional<double> distance(const Root& root, const Topology& topology, int from, int to) {
  std::istringstream row(root.text(fmt::format("/sys/devices/system/node/node{}/distance", from)).value_or(""));
  for (const int node : nodes_in_order(topology)) {
    double value = 0;
    if (!(row >> value)) break;
    if (node == to) return value;
  }
  return std::nullopt;
}

// Returns nothing unless every directory's device reports its node.
std::optional<std::string> nearest_by_device(const Root& root, const Topology& topology, int node,
                                             const std::vector<std::string>& directories) {
  std::optional<std::string> nearest;
  double least = 0;
  for (const std::string& directory : directories) {
    const auto directory_node = numa_node_of(root, file_system_of(root, directory));
    const auto there = directory_node ? distance(root, topology, node, *directory_node) : std::nullopt;
    if (!there) return std::nullopt;
    if (nearest && *there >= least) continue;
    nearest = directory;
    least = *there;
  }
  return nearest;
}

}  // namespace

std::string to_string(MountKind kind) {
  constexpr std::array<const char*, 3> kNames = {"dax", "memory", "file"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::vector<std::string> directories_in(const std::string& paths) {
  std::vector<std::string> directories;
  std::istringstream list(paths);
  for (std::string path; std::getline(list, path, ':');) directories.push_back(checked(path));
  if (directories.empty()) fail("path= names no directory");
  return directories;
}

std::string nearest_directory(const Root& root, const Topology& topology, const std::vector<std::string>& directories) {
  if (directories.size() == 1) return directories.front();
  const auto node = only_node(topology);
  if (!node) refuse("path= names several directories, but no rank is near one of them; bind ranks to NUMA nodes");
  if (const auto nearest = nearest_by_device(root, topology, *node, directories)) return *nearest;
  const std::vector<int> nodes = nodes_in_order(topology);
  if (nodes.size() != directories.size()) {
    refuse(fmt::format("path= names {} directories for {} NUMA nodes, and their devices do not show which is nearest",
                       directories.size(), nodes.size()));
  }
  return directories.at(static_cast<std::size_t>(std::ranges::find(nodes, *node) - nodes.begin()));
}

MemoryMount mount_at(const Root& root, const std::string& directory) {
  const FileSystem system = file_system_of(root, directory);
  const MountKind other = system.is_memory ? MountKind::memory : MountKind::file;
  return {.directory = directory, .file_system = system.type, .kind = is_dax(root, directory) ? MountKind::dax : other};
}

}  // namespace nameplate
