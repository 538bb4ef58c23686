// Finds where a file's bytes are: the file system, its block device and that device's link, as far as the system shows
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/root.h"

namespace nameplate {

struct FileSystem {
  std::string type;    // ext4, xfs, tmpfs, …; empty if not found
  std::string device;  // the kernel's name of the block device, nvme0n1p2; empty if there is none or it is not visible
  std::string number;  // that device's "259:2"; empty if there is none
  bool is_memory = false;  // tmpfs, ramfs, or a RAM disk
  bool is_shared = false;  // other machines may write to it: NFS, Lustre, …
};

// Returns the file system of the file or directory at `path` (absolute), by its mount. An overlay is followed to its
// upper layer if that is visible.
FileSystem file_system_of(const Root& root, const std::string& path);

// Returns whether loads and stores to this directory's files bypass the page cache (DAX): from statx (Linux 5.8) of an
// unnamed file, else from the mount's options.
bool is_dax(const Root& root, const std::string& directory);

// Returns the NUMA node to which the device is attached; nothing if there is none or the system does not report it.
std::optional<int> numa_node_of(const Root& root, const FileSystem& system);

// Returns the same for a block device itself.
FileSystem block_device_of(const Root& root, const std::string& path);

// The maximum bandwidth of the link between machine and device, after line coding: PCIe of an NVMe device, SATA.
struct Link {
  std::string name;  // "PCIe 8.0 GT/s x4"
  double bytes_per_s = 0;
};
std::optional<Link> link_of(const Root& root, const FileSystem& system);

// Bytes so far: of this process from and to storage (proc(5), /proc/self/io; a write counts when it dirties a page),
// and of the whole device. Negative if not reported.
struct StorageTraffic {
  double process_read_bytes = -1;
  double process_write_bytes = -1;
  double device_read_bytes = -1;
  double device_write_bytes = -1;
};
StorageTraffic read_traffic(const Root& root, const FileSystem& system);

// Returns the alignment in bytes of O_DIRECT's offsets and lengths: from statx (Linux 6.1), else a page, which every
// device accepts. Nothing if the file system has no O_DIRECT.
std::optional<std::uint64_t> direct_alignment(int descriptor);

// Extents of the file from FIEMAP: extents that were allocated but never written read as zeros without touching the
// device. Nothing if the file system does not report them.
struct Extents {
  std::uint64_t count = 0;
  std::uint64_t unwritten_bytes = 0;
};
std::optional<Extents> read_extents(int descriptor);

}  // namespace nameplate
