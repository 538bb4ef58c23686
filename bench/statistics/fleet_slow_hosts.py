"""Measure how often `fleet run --fast` names a host with a CPU quota and one with a slow disk, and no healthy one.

python bench/statistics/fleet_slow_hosts.py [RUNS]     default: 20 runs, 3 min each; needs root and cgroup v1

The fleet has 16 hosts of a real sshd, each with a network and a name of its own, which are measured one at a time. One
has a quota of 80 % of a CPU in periods of 5 ms, and one reads from its disk at half the rate of the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.fleet.fleet_report import fleet_report
from nameplate.fleet.host_values import read_fleet
from nameplate.records.node_record import Nodes
from nameplate.report.content.slow_nodes import slow_nodes
from private_sshd import ADDRESSES, private_sshd

NAMEPLATE = Path(sys.executable).with_name("nameplate")
QUOTA, SLOW_DISK = ADDRESSES[4], ADDRESSES[10]
QUOTA_US, PERIOD_US = 4000, 5000
DISK_SHARE = 0.5
GROUPS = Path("/sys/fs/cgroup")


@contextmanager
def group(controller: str) -> Iterator[Path]:
    """Create a control group and remove it at the end."""
    path = GROUPS / controller / f"nameplate-bench-{os.getpid()}"
    path.mkdir()
    try:
        yield path
    finally:
        path.rmdir()


def nodes_of(folder: Path) -> Nodes:
    """Return the judged hosts of a fleet."""
    addresses = FleetFolder.open(folder).addresses
    nodes = fleet_report(read_fleet(dict.fromkeys(addresses, ""), addresses)).nodes
    assert nodes is not None
    return nodes


def measured(folder: Path, programs: Path) -> Nodes:
    """Measure the fleet, print which hosts are slow and by how much, and return them."""
    options = ["--fast", "--at-once", "1", "-q", "--hosts", ",".join(ADDRESSES), "-o", str(folder)]
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run([NAMEPLATE, "fleet", "run", *options], env=environment, check=False, stdout=subprocess.DEVNULL)
    nodes = nodes_of(folder)
    for metric in nodes.metrics:
        gaps = [f"{nodes.names[index]} {metric.gap[index] or 0:.0%}" for index in metric.slow]
        if gaps:
            print(f"  {metric.experiment} {metric.metric}: {', '.join(gaps)}", flush=True)
    missing = {*ADDRESSES} - {*nodes.names}
    if missing:
        print(f"  not measured: {', '.join(sorted(missing))}", flush=True)
    return nodes


def main() -> None:
    """Measure a fleet of equal hosts to learn the rate of the disk, then the fleets with slow hosts."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with ExitStack() as stack:
        cpu, disk = stack.enter_context(group("cpu")), stack.enter_context(group("blkio"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (cpu / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        profile = f"""
case $HOME in
*/{QUOTA}) echo $$ >{cpu}/cgroup.procs ;;
*/{SLOW_DISK}) echo $$ >{disk}/cgroup.procs ;;
esac
exec unshare --net --uts sh -c 'hostname "node${{HOME##*.}}"; ip link set lo up; exec sh -c "$SSH_ORIGINAL_COMMAND"'
"""
        programs = stack.enter_context(private_sshd(folder, profile=profile))
        equal = measured(folder / "equal", programs)
        reads = next(metric for metric in equal.metrics if metric.experiment.startswith("disk_block")
                     and "random" in metric.experiment and metric.metric == "bandwidth")  # fmt: skip
        rate = sorted(value for value in reads.value if value)[len(equal.names) // 2]
        device = Path("/var/tmp").stat().st_dev
        limit = f"{os.major(device)}:{os.minor(device)} {DISK_SHARE * rate:.0f}"
        (disk / "blkio.throttle.read_bps_device").write_text(limit)
        (cpu / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
        false_of_equal = [equal.names[index] for index in slow_nodes(equal)]
        print(f"equal hosts: named {', '.join(false_of_equal) or 'none'}; disk {rate / 1e6:.0f} MB/s", flush=True)
        named = Counter[str]()
        for number in range(1, runs + 1):
            nodes = measured(folder / f"run{number}", programs)
            names = {nodes.names[index] for index in slow_nodes(nodes)}
            named.update({"quota": QUOTA in names, "slow disk": SLOW_DISK in names,
                          "a healthy host": bool(names - {QUOTA, SLOW_DISK})})  # fmt: skip
            counts = ", ".join(f"{kind} {named[kind]}" for kind in ("quota", "slow disk", "a healthy host"))
            print(f"{number} runs; named: {counts}", flush=True)


if __name__ == "__main__":
    main()
