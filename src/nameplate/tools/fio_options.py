"""Classify the options of fio jobs by their effect on the work, in order to read fio's output.

The option names are from fio 3.0 to 3.41 (options.c). Of two synonyms, either may occur in an output.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

# Synonyms of the options below that set a parameter of disk_block.
SYNONYMS = {"readwrite": "rw", "blocksize": "bs"}
# Options that set the same quantity under another name.
_OPPOSITES = {"buffered": "direct", "rwmixwrite": "rwmixread"}

_READ = {
    "rw", "bs", "kb_base", "numjobs", "ioengine", "iodepth", "direct", "buffered", "rwmixread", "rwmixwrite",
    "filename", "fsync", "fdatasync", "sync", "end_fsync", "unified_rw_reporting", "group_reporting",
    "directory", "filename_format", "invalidate", "pre_read",
}  # fmt: skip

# Options that limit the rate of a job to less than the machine delivers.
RATE_LIMITS = ("rate", "rate_iops")

# Options that name the folder, device or image on which an engine works.
LOCATIONS = ("directory", "pool", "rbdname", "uri", "nfs_url", "volume", "libblkio_path")

# Options that change a job's location, duration, file content, reports or threads, but not its individual operations.
_HARMLESS = {
    "name", "description", "unique_filename", "filetype", "size", "filesize",
    "io_size", "io_limit", "fill_device", "fill_fs", "offset", "fileoffset", "offset_align", "offset_increment",
    "number_ios", "runtime", "timeout", "time_based", "ramp_time", "ramp_size", "startdelay", "loops",
    "stonewall", "wait_for_previous", "new_group", "thread", "job_start_clock_id", "exitall",
    "exitall_on_error", "exit_what", "randrepeat", "allrandrepeat", "randseed", "random_generator",
    "norandommap", "softrandommap", "rw_sequencer", "refill_buffers", "scramble_buffers",
    "overwrite", "fallocate", "fadvise_hint", "create_serialize", "create_fsync", "create_on_open",
    "allow_file_create", "allow_mounted_write", "unlink", "unlink_each_loop", "gtod_reduce", "gtod_cpu",
    "clocksource", "disable_lat", "disable_clat", "disable_slat", "disable_bw_measurement", "disable_bw",
    "clat_percentiles", "lat_percentiles", "slat_percentiles", "percentile_list", "significant_figures",
    "unit_base", "bwavgtime", "iopsavgtime", "disk_util", "stats", "write_bw_log", "write_lat_log",
    "write_iops_log", "write_hist_log", "log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_max_value",
    "log_window_value", "log_offset", "log_entries", "log_compression", "log_store_compressed",
    "log_unix_epoch", "log_alternate_epoch", "log_alternate_epoch_clock_id", "log_prio", "log_issue_time",
    "per_job_logs", "block_error_percentiles", "steadystate", "ss", "steadystate_duration", "ss_dur",
    "steadystate_ramp_time", "ss_ramp", "steadystate_check_interval", "ss_interval", "mem", "iomem",
    "iomem_align", "mem_align", "hugepage-size", "lockmem", "cpumask", "cpus_allowed", "cpus_allowed_policy",
    "numa_cpu_nodes", "numa_mem_policy", "nice", "prio", "prioclass", "uid", "gid", "comm", "exec_prerun",
    "exec_postrun", "fixedbufs", "registerfiles", "nonvectored", "userspace_reap", *LOCATIONS, "clustername",
    "clientname", "brick", "libblkio_driver",
}  # fmt: skip

# Any other option changes the work, unless it is off or has one of the values in _NEUTRAL.
_OFF = {"0", "none"}
_NEUTRAL: Mapping[str, Set[str]] = {
    "percentage_random": {"100", "100,100", "100,100,100"},
    "random_distribution": {"random"},
    "nrfiles": {"1"},
    "nr_files": {"1"},
    "iodepth_batch": {"1"},
    "iodepth_batch_submit": {"1"},
    "iodepth_batch_complete": {"1"},
    "iodepth_batch_complete_min": {"1"},
    "io_submit_mode": {"inline"},
    "cmd_type": {"nvme"},
    # These options have no neutral value: 0 is a pattern, and none is a scheduler.
    "buffer_pattern": set(),
    "verify_pattern": set(),
    "ioscheduler": set(),
}

# Engines that use the same system calls as a library of nameplate.
LIBRARIES = {"psync": "pread", "sync": "posix", "libaio": "libaio", "io_uring": "uring", "mmap": "mmap"}
# Other engines that transfer blocks of a file or device; nameplate reports them under fio's name.
OTHER_ENGINES = {
    "vsync", "pvsync", "pvsync2", "posixaio", "solarisaio", "windowsaio", "splice", "sg", "io_uring_cmd",
    "libblkio", "xnvme", "libpmem", "dev-dax", "mtd", "rbd", "rados", "nbd", "nfs", "gfapi", "gfapi_async",
    "libiscsi",
}  # fmt: skip
# Synchronous engines: they ignore iodepth.
WAITING_ENGINES = {"psync", "sync", "mmap", "vsync", "pvsync", "pvsync2", "splice", "libpmem", "dev-dax", "mtd"}


_UNIT_MS = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 60e3, "h": 3600e3, "d": 86400e3}


def changing_option(options: Mapping[str, str]) -> str | None:
    """Return the first option, as ``name=value``, that changes the work in a way that disk_block cannot express.

    ``options`` are the options of one job by name, without synonyms. The result is None if there is no such option.
    """
    for name, text in options.items():
        if name not in {*_READ, *_HARMLESS, *RATE_LIMITS} and text not in _NEUTRAL.get(name, _OFF):
            return f"{name}={text}" if text else name
    return None


def overwritten(options: Sequence[tuple[str, str]]) -> set[str]:
    """Return the names of the options that change the work and that are set several times with different meanings.

    ``options`` are (name, value) pairs. Options that set the same quantity, for example ``direct`` and ``buffered``,
    count as one option, under the name that ``quantity`` returns.
    """
    meanings: dict[str, set[str]] = {}
    for name, text in options:
        meanings.setdefault(quantity(name), set()).add(_meaning(name, text))
    return {name for name, texts in meanings.items() if len(texts) > 1 and name not in _HARMLESS}


def _meaning(name: str, text: str) -> str:
    """Return the value that an option gives to its ``quantity``: ``rwmixwrite=40`` means 60 % reads, so "60"."""
    if name in ("direct", "buffered"):
        return str(is_on({name: text}, name) == (name == "direct"))
    if name == "rwmixwrite" and text.isdecimal():
        return str(100 - int(text))
    return text.lower()


def quantity(name: str) -> str:
    """Return one common name for all options that set the same quantity as the option ``name``.

    The result is "direct" for ``buffered``, "bs" for ``blocksize``, and ``name`` for an option without a counterpart.
    """
    name = SYNONYMS.get(name, name)
    return _OPPOSITES.get(name, name)


def is_on(options: Mapping[str, str], name: str) -> bool:
    """Return whether the option ``name`` in ``options`` has a value other than zero; ``00`` and ``0x0`` are zeros, too.

    The result is False for an option that is not given.
    """
    return re.fullmatch(r"0+|0x0+", options.get(name, "0")) is None


def time_ms(text: str) -> float | None:
    """Return the time that an option's value states, in ms, or None if ``text`` is not a time.

    The units are us, ms, s, m, h and d; a number without a unit is in seconds.
    """
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?)(us|ms|s|m|h|d)?", text.lower())
    return float(match[1]) * _UNIT_MS[match[2] or "s"] if match else None
