#include "disk/file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <vector>

#include "machine/descriptor.h"

namespace nameplate {

namespace {

constexpr int kMaxLayers = 4;
constexpr double kSector_bytes = 512;

// One line of /proc/self/mountinfo (proc(5)).
struct Mount {
  std::string number;
  std::string point;
  std::string type;
  std::string source;
  std::string options;
};

// "\040" and the like, with which the kernel escapes blanks in names.
std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result.push_back(static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)));
      i += 3;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

std::optional<Mount> parse_mount(const std::string& line) {
  std::istringstream fields(line);
  Mount mount;
  std::string ignored;
  fields >> ignored >> ignored >> mount.number >> ignored >> mount.point >> ignored;
  while (fields >> ignored && ignored != "-") {
  }
  fields >> mount.type >> mount.source >> mount.options;
  if (!fields) return std::nullopt;
  mount.point = unescaped(mount.point);
  mount.source = unescaped(mount.source);
  return mount;
}

bool is_below(const std::string& path, const std::string& point) {
  if (point == "/") return true;
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

// The types have the kernel's names. FUSE may hide anything, most often a network.
bool is_shared_type(const std::string& type) {
  static const std::set<std::string, std::less<>> kShared = {"9p",    "afs",    "beegfs",   "ceph",  "cifs",  "gfs2",
                                                             "gpfs",  "lustre", "nfs",      "nfs4",  "ocfs2", "panfs",
                                                             "pvfs2", "smb3",   "virtiofs", "wekafs"};
  return kShared.contains(type) || type.starts_with("fuse.");
}

// If several are mounted at one point, the last one is visible.
std::optional<Mount> mount_of(const Root& root, const std::string& path) {
  std::istringstream lines(root.text("/proc/self/mountinfo").value_or(""));
  std::optional<Mount> best;
  for (std::string line; std::getline(lines, line);) {
    auto mount = parse_mount(line);
    if (mount && is_below(path, mount->point) && (!best || mount->point.size() >= best->point.size())) best = mount;
  }
  return best;
}

std::string option_of(const Mount& mount, const std::string& key) {
  std::istringstream options(mount.options);
  for (std::string option; std::getline(options, option, ',');) {
    if (option.starts_with(key)) return option.substr(key.size());
  }
  return "";
}

std::string number_of(const std::string& device) {
  struct stat status {};
  if (stat(device.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) return "";
  return fmt::format("{}:{}", major(status.st_rdev), minor(status.st_rdev));
}

std::string name_of(const Root& root, const std::string& number) {
  const auto text = root.text(fmt::format("/sys/dev/block/{}/uevent", number));
  return text ? field(*text, "DEVNAME", '=').value_or("") : "";
}

FileSystem with_device(const Root& root, FileSystem system, const std::string& number) {
  system.number = number;
  system.device = number.empty() ? "" : name_of(root, number);
  system.is_shared = is_shared_type(system.type);
  system.is_memory = system.type == "tmpfs" || system.type == "ramfs" || system.device.starts_with("ram") ||
                     system.device.starts_with("zram");
  return system;
}

// Returns the sysfs directory of the whole device of a partition, or of the only device of a mapped one.
std::string device_directory(const Root& root, const std::string& number) {
  std::string directory = fmt::format("/sys/dev/block/{}", number);
  if (root.exists(directory + "/partition")) directory += "/..";
  const auto slaves = root.names(directory + "/slaves");
  if (slaves.size() != 1) return directory;
  const auto below = root.text(directory + "/slaves/" + slaves[0] + "/dev");
  return below ? device_directory(root, *below) : directory;
}

std::optional<Link> pcie_link(const Root& root, const std::string& device) {
  const auto speed = root.text(device + "/device/device/current_link_speed");
  const auto width = root.number(device + "/device/device/current_link_width");
  const auto transfers = speed ? leading_number(*speed) : std::nullopt;
  if (!transfers || !width || *width <= 0) return std::nullopt;
  constexpr double kOldCodings_GTs = 5;  // PCI Express Base Specification: 8b/10b up to 5 GT/s, 128b/130b above
  const double coded = *transfers <= kOldCodings_GTs ? 0.8 : 128.0 / 130.0;
  return Link{.name = fmt::format("PCIe {} GT/s x{}", *transfers, *width),
              .bytes_per_s = *transfers * 1e9 * static_cast<double>(*width) * coded / 8};
}

std::optional<Link> sata_link(const Root& root, const std::string& device) {
  const std::string port = device + "/device/../../..";
  for (const std::string& name : root.names(port)) {
    if (!name.starts_with("link")) continue;
    const auto speed = root.text(fmt::format("{}/{}/ata_link/{}/sata_spd", port, name, name));
    const auto gigabits = speed ? leading_number(*speed) : std::nullopt;
    if (gigabits)
      return Link{.name = fmt::format("SATA {} Gbit/s", *gigabits), .bytes_per_s = *gigabits * 1e9 * 0.8 / 8};
  }
  return std::nullopt;
}

double field_or_unknown(const std::string& text, const std::string& key) {
  const auto value = field(text, key);
  return value ? leading_number(*value).value_or(-1) : -1;
}

}  // namespace

FileSystem file_system_of(const Root& root, const std::string& path) {
  std::string at = path;
  FileSystem system;
  for (int layer = 0; layer < kMaxLayers; ++layer) {
    const auto mount = mount_of(root, at);
    if (!mount) return system;
    if (system.type.empty()) system.type = mount->type;
    if (!mount->number.starts_with("0:")) return with_device(root, system, mount->number);
    if (mount->source.starts_with("/dev/")) return with_device(root, system, number_of(mount->source));
    const std::string upper = option_of(*mount, "upperdir=");
    std::error_code ignored;
    if (upper.empty() || !std::filesystem::exists(upper, ignored)) break;
    at = upper;
  }
  return with_device(root, system, "");
}

bool is_dax(const Root& root, const std::string& directory) {
  const Descriptor file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  struct statx status {};
  const bool is_reported = file.is_open() && statx(file.number(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) == 0 &&
                           (status.stx_attributes_mask & STATX_ATTR_DAX) != 0;
  if (is_reported) return (status.stx_attributes & STATX_ATTR_DAX) != 0;
  const auto mount = mount_of(root, directory);
  if (!mount) return false;
  const std::string options = "," + mount->options + ",";
  return options.find(",dax,") != std::string::npos || options.find(",dax=always,") != std::string::npos;
}

std::optional<int> numa_node_of(const Root& root, const FileSystem& system) {
  if (system.number.empty()) return std::nullopt;
  const auto node = root.number(device_directory(root, system.number) + "/device/numa_node");
  return node && *node >= 0 ? std::optional(static_cast<int>(*node)) : std::nullopt;
}

FileSystem block_device_of(const Root& root, const std::string& path) {
  return with_device(root, {.type = "none (block device)", .device = {}, .number = {}}, number_of(path));
}

std::optional<Link> link_of(const Root& root, const FileSystem& system) {
  if (system.number.empty()) return std::nullopt;
  const std::string device = device_directory(root, system.number);
  const auto link = pcie_link(root, device);
  return link ? link : sata_link(root, device);
}

StorageTraffic read_traffic(const Root& root, const FileSystem& system) {
  StorageTraffic traffic;
  if (const auto process_io = root.text("/proc/self/io")) {
    traffic.process_read_bytes = field_or_unknown(*process_io, "read_bytes");
    traffic.process_write_bytes = field_or_unknown(*process_io, "write_bytes");
  }
  if (system.number.empty()) return traffic;
  // Documentation/block/stat.rst: the third number is sectors read, the seventh is sectors written.
  std::istringstream fields(root.text(fmt::format("/sys/dev/block/{}/stat", system.number)).value_or(""));
  std::array<double, 7> numbers{};
  for (double& number : numbers) fields >> number;
  if (fields) {
    traffic.device_read_bytes = numbers[2] * kSector_bytes;
    traffic.device_write_bytes = numbers[6] * kSector_bytes;
  }
  return traffic;
}

std::optional<std::uint64_t> direct_alignment(int descriptor) {
  struct statx status {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN) != 0) {
    if (status.stx_dio_offset_align == 0) return std::nullopt;
    return status.stx_dio_offset_align;
  }
  constexpr std::uint64_t kLargestSector = 4096;
  return kLargestSector;
}

std::optional<Extents> read_extents(int descriptor) {
  constexpr std::size_t kBatch = 256;
  std::vector<std::byte> memory(sizeof(fiemap) + kBatch * sizeof(fiemap_extent));
  auto* const map = reinterpret_cast<fiemap*>(memory.data());  // NOLINT: a header with its array behind it
  Extents extents;
  for (std::uint64_t start = 0;;) {
    std::memset(memory.data(), 0, memory.size());
    map->fm_start = start;
    map->fm_length = FIEMAP_MAX_OFFSET - start;
    map->fm_extent_count = kBatch;
    if (ioctl(descriptor, FS_IOC_FIEMAP, map) != 0) return std::nullopt;
    for (std::uint32_t i = 0; i < map->fm_mapped_extents; ++i) {
      const fiemap_extent& extent = map->fm_extents[i];
      ++extents.count;
      if ((extent.fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0) extents.unwritten_bytes += extent.fe_length;
      if ((extent.fe_flags & FIEMAP_EXTENT_LAST) != 0) return extents;
      start = extent.fe_logical + extent.fe_length;
    }
    if (map->fm_mapped_extents == 0) return extents;
  }
}

}  // namespace nameplate
