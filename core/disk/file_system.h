// Where a file's bytes lie: the file system, the block device below it and that one's link, as far as the system shows
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/root.h"

namespace nameplate {

struct FileSystem {
  std::string type;        // ext4, xfs, tmpfs, …; empty: not found
  std::string device;      // the kernel's name of the block device, nvme0n1p2; empty: none, or not seen
  std::string number;      // that device's "259:2"; empty: none
  bool is_memory = false;  // tmpfs, ramfs, or a RAM disk below it
  bool is_shared = false;  // other machines may write to it: NFS, Lustre, …
};

// Of the file or directory at `path`, absolute, by the mount that it lies on. Through an overlay down to its upper
// layer, where that is visible.
FileSystem file_system_of(const Root& root, const std::string& path);

// Whether loads and stores reach the device of this directory's files without the page cache between (DAX): from statx
// (Linux 5.8) of a file without a name, else from the mount's options.
bool is_dax(const Root& root, const std::string& directory);

// The NUMA node that the device is attached to; nothing where it has none, or the system does not tell.
std::optional<int> numa_node_of(const Root& root, const FileSystem& system);

// Of a block device itself.
FileSystem block_device_of(const Root& root, const std::string& path);

// What the link between the machine and the device can carry at most, without its coding: PCIe of an NVMe device, SATA.
struct Link {
  std::string name;  // "PCIe 8.0 GT/s x4"
  double bytes_per_s = 0;
};
std::optional<Link> link_of(const Root& root, const FileSystem& system);

// Bytes so far: of this process from and to storage (proc(5), /proc/self/io; a write counts when a page becomes dirty),
// and of the whole device. Less than 0: not shown.
struct StorageTraffic {
  double process_read_bytes = -1;
  double process_write_bytes = -1;
  double device_read_bytes = -1;
  double device_write_bytes = -1;
};
StorageTraffic read_traffic(const Root& root, const FileSystem& system);

// Of what O_DIRECT's offsets and lengths must be multiples, in bytes: from statx (Linux 6.1), else a page, which every
// device takes. Nothing where the file system has no O_DIRECT.
std::optional<std::uint64_t> direct_alignment(int descriptor);

// Extents of the file as FIEMAP lists them: those that were allocated but never written read as zeros without touching
// the device. Nothing where the file system does not tell.
struct Extents {
  std::uint64_t count = 0;
  std::uint64_t unwritten_bytes = 0;
};
std::optional<Extents> read_extents(int descriptor);

}  // namespace nameplate
