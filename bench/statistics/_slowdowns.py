"""Make a machine slower on purpose: programs with more instructions, limits by the kernel, and traffic in memory.

Each condition has the size of its slow-down and says beforehand what must move. A recording of them is a file of JSON
Lines (``RECORDED``), each line one metric of one run (``Line``).
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

import msgspec
from _record_traces import BESIDE, beside, quota

FOLDER = Path(__file__).parent / "slowdowns"
RECORDED = FOLDER / "recorded.jsonl"
SLOWER_CORE = "nameplate-core-slower-{percent}"
BUILD = Path(__file__).parents[2] / "build" / "release"
# A loopback device sends pieces of 64 KiB, many of them in a tick of the timer.
NETWORK_BURST = "4mb"
TRAFFIC_BYTES_PER_S = 8e9
_BLOCK_BYTES = 8 << 20

Area: TypeAlias = Literal["cpu", "memory", "disk", "net"]
Question: TypeAlias = Literal["capability", "typical"]
PlanName: TypeAlias = Literal["short_samples", "whole_periods"]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of one run, as time per unit of work, so that less is better.

    ``block`` is the number of the block, whose runs are compared with its unchanged run. ``capability`` has the value,
    the bounds of its 95 % interval and the number of rounds, None without an interval; ``rounds`` the median of each.
    ``cpu_share`` is the share of the CPU time that the run could use and got, as it bears on the metric; 1 in
    recordings that do not have it.
    """

    recording: str
    block: int
    condition: str
    plan: PlanName
    experiment: str
    capability: tuple[float, float, float, int] | None
    rounds: list[float]
    cpu_share: float = 1.0


@dataclass(frozen=True)
class Launch:
    """How a run is started: variables of its environment, words before its command, and control groups to join."""

    environment: Mapping[str, str] = field(default_factory=dict)
    # Run in the network namespace of the run.
    network_command: Sequence[str] = ()
    groups: Sequence[Path] = ()

    def run(self, command: Sequence[str], folder: Path) -> None:
        """Run a command in a network namespace of its own, whose loopback device works.

        Raises:
            CalledProcessError: the command, or one that sets the namespace up, fails.
        """
        steps = (["ip", "link", "set", "lo", "up"], self.network_command, ["exec", *command])
        script = " && ".join(shlex.join(step) for step in steps if step)
        subprocess.run(["unshare", "--net", "bash", "-c", script], cwd=folder, check=True,
                       env={**os.environ, **self.environment}, preexec_fn=self._join)  # fmt: skip

    def _join(self) -> None:
        for group in self.groups:
            group.write_text(str(os.getpid()))


@dataclass(frozen=True)
class Rates:
    """The rates of the unchanged machine, in B/s, from which limits are computed."""

    disk: float
    network: float


Start: TypeAlias = Callable[[Rates], AbstractContextManager[Launch]]


@dataclass(frozen=True)
class Condition:
    """A way to make the machine slower.

    ``size`` is the share by which the time of the same work grows, None if it is not known beforehand. ``moves`` says
    what must change, by area; other areas must not.
    """

    name: str
    plan: PlanName
    size: float | None
    moves: Mapping[Area, tuple[Question, ...]]
    start: Start


@contextmanager
def _unchanged(_: Rates) -> Iterator[Launch]:
    yield Launch()


def _more_instructions(percent: int) -> Start:
    @contextmanager
    def launch(_: Rates) -> Iterator[Launch]:
        yield Launch({"NAMEPLATE_CORE": str(BUILD / SLOWER_CORE.format(percent=percent))})

    return launch


def _cpu_quota(share: float) -> Start:
    @contextmanager
    def launch(_: Rates) -> Iterator[Launch]:
        with quota(share * (os.cpu_count() or 1)) as group:
            yield Launch(groups=[group])

    return launch


def _disk_limit(share: float) -> Start:
    @contextmanager
    def launch(rates: Rates) -> Iterator[Launch]:
        with _read_limit(share * rates.disk) as group:
            yield Launch(groups=[group])

    return launch


@contextmanager
def _read_limit(bytes_per_s: float) -> Iterator[Path]:
    """Make a control group (version 1) that reads no faster from the disk of the current folder."""
    group = Path("/sys/fs/cgroup/blkio") / f"nameplate-slowdown-{os.getpid()}"
    group.mkdir()
    try:
        device = Path.cwd().stat().st_dev
        limit = f"{os.major(device)}:{os.minor(device)} {bytes_per_s:.0f}"
        (group / "blkio.throttle.read_bps_device").write_text(limit)
        yield group / "cgroup.procs"
    finally:
        time.sleep(1)  # the last process of the group may still be ending
        group.rmdir()


def _network_limit(share: float) -> Start:
    @contextmanager
    def launch(rates: Rates) -> Iterator[Launch]:
        bits_per_s = f"{share * rates.network * 8:.0f}bit"
        yield Launch(network_command=["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", bits_per_s,
                                      "burst", NETWORK_BURST, "latency", "50ms"])  # fmt: skip

    return launch


@contextmanager
def _neighbour(_: Rates) -> Iterator[Launch]:
    with TemporaryDirectory() as folder, beside(BESIDE["neighbour"][0], Path(folder)):
        yield Launch()


@contextmanager
def _traffic(_: Rates) -> Iterator[Launch]:
    with subprocess.Popen(["taskset", "-c", "1", sys.executable, __file__]) as process:
        try:
            time.sleep(1)  # its arrays are filled
            yield Launch()
        finally:
            process.terminate()


def copy_at_a_steady_rate() -> None:
    """Copy between two arrays beyond the caches until the process is ended: reads and writes of 8 GB/s together."""
    import numpy as np  # noqa: PLC0415 (only the process of the traffic needs it)

    source, target = np.ones((32, _BLOCK_BYTES), np.uint8), np.ones((32, _BLOCK_BYTES), np.uint8)
    start, n_copied = time.monotonic(), 0
    while True:
        np.copyto(target[n_copied % 32], source[n_copied % 32])
        n_copied += 1
        time.sleep(max(0.0, start + n_copied * 2 * _BLOCK_BYTES / TRAFFIC_BYTES_PER_S - time.monotonic()))


PLANS: tuple[PlanName, ...] = ("short_samples", "whole_periods")
_BOTH: tuple[Question, ...] = ("capability", "typical")

UNCHANGED = "unchanged"
CONDITIONS = (
    # Twice, so that a second one is compared with the first.
    *(
        Condition(f"{UNCHANGED}{suffix}", plan, 0.0, {}, _unchanged)
        for plan in PLANS
        for suffix in ("", " again")
    ),
    *(
        Condition(f"cpu: {percent} % more instructions", "short_samples", percent / 100, {"cpu": _BOTH},
                  _more_instructions(percent))
        for percent in (5, 10, 20)
    ),
    Condition("neighbour: a busy thread", "short_samples", None,
              {"cpu": ("typical",), "memory": ("typical",), "net": ("typical",)}, _neighbour),
    Condition("memory: traffic of 8 GB/s", "short_samples", None, {"memory": ("typical",)}, _traffic),
    *(
        Condition(f"cpu: quota of {share:.0%}", "whole_periods", 1 / share - 1, {"cpu": _BOTH, "memory": _BOTH,
                  "net": ("typical",)}, _cpu_quota(share))
        for share in (0.9, 0.8)
    ),
    Condition("disk: limit of 80 %", "whole_periods", 0.25, {"disk": _BOTH}, _disk_limit(0.8)),
    Condition("network: tbf of 80 %", "whole_periods", 0.25, {"net": _BOTH}, _network_limit(0.8)),
)  # fmt: skip


if __name__ == "__main__":
    copy_at_a_steady_rate()
