// Finds the directories of the control groups (version 1 or 2) of this process.
#pragma once

#include <string>
#include <vector>

#include "machine/root.h"

namespace nameplate {

// The group of this process in the hierarchy that has a controller, such as "cpu".
struct ControlGroups {
  int version = 0;                       // 0: no hierarchy has the controller
  bool is_visible = false;               // whether the group's own directory can be read: containers may hide it
  std::vector<std::string> directories;  // of the group and its visible ancestors, innermost first
};

// Looks for the controller's mount in /proc/self/mountinfo, since any directory may be its mount point, and a mount may
// show a part of the hierarchy only; without that file, in the directories below /sys/fs/cgroup that are usual.
ControlGroups find_control_groups(const Root& root, const std::string& controller);

}  // namespace nameplate
