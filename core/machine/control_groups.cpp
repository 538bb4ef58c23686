#include "machine/control_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace nameplate {

namespace {

struct Mount {
  std::string root;   // the group whose directory is the mount point
  std::string point;  // the mount point
};

struct Group {
  int version = 0;
  std::string name;  // its path in the hierarchy
};

// Returns whether a list that is separated by commas has this item.
bool has_item(const std::string& list, const std::string& item) {
  return fmt::format(",{},", list).find(fmt::format(",{},", item)) != std::string::npos;
}

// Returns the group in the line of /proc/self/cgroup that lists the controller ("4:cpu,cpuacct:/user"); the line of
// version 2 lists none.
std::optional<std::string> group_of(const std::string& cgroups, const std::string& controller) {
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (has_item(line.substr(first + 1, second - first - 1), controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

// A controller that no hierarchy of version 1 has belongs to version 2.
std::optional<Group> find_group(const Root& root, const std::string& controller) {
  const std::string cgroups = root.text("/proc/self/cgroup").value_or("");
  if (const auto name = group_of(cgroups, controller)) return Group{.version = 1, .name = *name};
  if (const auto name = group_of(cgroups, "")) return Group{.version = 2, .name = *name};
  return std::nullopt;
}

// mountinfo has "\040" for a blank, and likewise for tabs, newlines and backslashes (proc(5)).
std::string unescaped(const std::string& text) {
  constexpr std::size_t kDigits = 3;
  constexpr int kOctal = 8;
  const auto is_octal = [](char c) { return c >= '0' && c < '8'; };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string digits = text[i] == '\\' ? text.substr(i + 1, kDigits) : "";
    if (digits.size() == kDigits && std::ranges::all_of(digits, is_octal)) {
      result += static_cast<char>(std::stoi(digits, nullptr, kOctal));
      i += kDigits;
    } else {
      result += text[i];
    }
  }
  return result;
}

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" (proc(5)): the options of the file
// system name the controllers.
std::optional<Mount> mount_in(const std::string& line, int version, const std::string& controller) {
  const auto separator = line.find(" - ");
  if (separator == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(0, separator));
  std::istringstream file_system(line.substr(separator + 3));
  std::string ignored;
  std::string type;
  std::string options;
  Mount mount;
  fields >> ignored >> ignored >> ignored >> mount.root >> mount.point;
  file_system >> type >> ignored >> options;
  const bool is_match = version == 1 ? type == "cgroup" && has_item(options, controller) : type == "cgroup2";
  if (!fields || !is_match) return std::nullopt;
  return Mount{.root = unescaped(mount.root), .point = unescaped(mount.point)};
}

// Another mount may cover a mount point, which then has none of the files of a group.
std::vector<Mount> listed_mounts(const Root& root, const std::string& mountinfo, int version,
                                 const std::string& controller) {
  std::vector<Mount> result;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    const auto mount = mount_in(line, version, controller);
    if (mount && root.exists(mount->point + "/cgroup.procs")) result.push_back(*mount);
  }
  return result;
}

std::vector<Mount> default_mounts(const Root& root, int version, const std::string& controller) {
  const std::string base = "/sys/fs/cgroup";
  const std::vector<std::string> points =
      version == 2 ? std::vector{base, base + "/unified"} : std::vector{base + "/" + controller};
  std::vector<Mount> result;
  for (const std::string& point : points) {
    if (root.exists(version == 2 ? point + "/cgroup.controllers" : point)) result.push_back({"/", point});
  }
  return result;
}

// Returns the directory of a group below the mount point, empty for the mount point itself; nothing if the mount does
// not show the group. "/.." in a path leads out of the cgroup namespace.
std::optional<std::string> path_in(const Mount& mount, const std::string& group) {
  const std::string prefix = mount.root == "/" ? "" : mount.root;
  if (group == mount.root) return "";
  if (!group.starts_with(prefix + "/")) return std::nullopt;
  const std::string path = group.substr(prefix.size());
  return path == "/.." || path.starts_with("/../") ? std::nullopt : std::optional(path);
}

}  // namespace

ControlGroups find_control_groups(const Root& root, const std::string& controller) {
  const auto group = find_group(root, controller);
  if (!group) return {};
  const auto mountinfo = root.text("/proc/self/mountinfo");
  ControlGroups result{.version = group->version};
  std::optional<std::string> longest;  // the mount that shows the most ancestors
  const auto mounts = mountinfo ? listed_mounts(root, *mountinfo, group->version, controller)
                                : default_mounts(root, group->version, controller);
  for (const Mount& mount : mounts) {
    const auto path = path_in(mount, group->name);
    const bool is_visible = path && (!mountinfo || root.exists(mount.point + *path));
    if (!path || (longest && path->size() <= longest->size()) || (result.is_visible && !is_visible)) continue;
    longest = path;
    result.is_visible = is_visible;
    result.directories = {mount.point + *path};
    for (std::string rest = *path; !rest.empty();) {
      rest.erase(rest.rfind('/'));
      result.directories.push_back(mount.point + rest);
    }
  }
  return result;
}

}  // namespace nameplate
