"""Files of /proc and /sys that a sandbox hides, in a mount namespace of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="hiding files needs root")


def machine_after(core: Path, commands: str, prefix: str = "") -> dict[str, Any]:
    """Return the core's description of this machine after shell commands in a mount namespace of their own."""
    script = f'{commands} && exec {prefix} "$0" --machine'
    answer = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, core], capture_output=True, text=True, check=True, timeout=60
    )
    machine: dict[str, Any] = json.loads(answer.stdout)
    return machine


@pytest.mark.parametrize("hidden", ["/sys", "/sys/devices/system", "/sys/devices/system/cpu"])
@pytest.mark.parametrize("components", ["", "HWLOC_COMPONENTS=-x86"])
def test_the_affinity_mask_counts_without_a_topology(hidden: str, components: str, core_path: Path) -> None:
    cpus = os.sched_getaffinity(0)
    for mask in (cpus, {max(cpus)}):
        prefix = f"env {components} taskset -c {','.join(map(str, mask))}"
        topology = machine_after(core_path, f"mount -t tmpfs none {hidden}", prefix)["topology"]
        assert set(topology["allowed_cpus"]) == mask
        assert topology["allowed_cores"] <= len(mask)
        assert topology["threads"] >= len(mask)


def test_a_hidden_cpuinfo_makes_no_guest_bare_metal(core_path: Path) -> None:
    plain = machine_after(core_path, "true")
    hidden = machine_after(core_path, "mount --bind /dev/null /proc/cpuinfo")
    if hidden["is_hypervisor_known"]:
        assert (hidden["hypervisor"] is None) == (plain["hypervisor"] is None)
    else:
        assert hidden["hypervisor"] is None


@pytest.mark.parametrize("content", [None, "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"])
def test_steal_that_is_not_counted_is_left_out(content: str | None, core_path: Path, tmp_path: Path) -> None:
    stat = Path("/dev/null")
    if content is not None:
        stat = tmp_path / "stat"
        stat.write_text(content)
    request = json.dumps({"id": "null", "probe": "null", "params": {}, "slice_s": 0.05, "max_samples": 2})
    script = f'mount --bind {stat} /proc/stat && exec "$0"'
    answer = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, core_path],
        input=request + "\n", capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    samples = [record for record in map(json.loads, answer.stdout.splitlines()) if record["type"] == "sample"]
    assert samples
    assert all("steal_s" not in sample["disturbed"] for sample in samples)
