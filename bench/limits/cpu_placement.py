"""Show whether two CPUs of a guest stay near each other on the host, and what their memory bandwidth depends on.

Ten times a second, a plain C program measures the round trip of a cache line between CPU 0 and CPU 1, and the bandwidth
of a non-temporal triad on both. CPUs that share an L3 cache have a short round trip; if the host moves them apart, it
is several times as long. Pass the seconds as the first argument (default 60).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_suffix(".c")
DEFAULT_SECONDS = "60"
# The highest and the lowest percent are left out.
MIN_LOOKS = 100
# Round trips of two kinds differ by more than this factor.
APART = 1.5


class Snapshot(NamedTuple):
    """One of the measurements: when, the round trip in seconds, and the bandwidth in B/s."""

    at_s: float
    round_trip_s: float
    bandwidth: float


def limit_between(looks: Sequence[Snapshot]) -> float | None:
    """Return a round trip in seconds that separates two kinds, in their widest gap; None if there is one kind.

    The highest and the lowest percent are left out, since another program may have disturbed them.
    """
    n_left_out = len(looks) // 100
    ordered = sorted(snapshot.round_trip_s for snapshot in looks)[n_left_out : len(looks) - n_left_out]
    low, high = max(pairwise(ordered), key=lambda pair: pair[1] / pair[0])
    return (low * high) ** 0.5 if high / low > APART else None


def print_kind(name: str, looks: Sequence[Snapshot]) -> None:
    """Print how often a kind was seen, its round trip, and the range of its bandwidths."""
    bandwidths = sorted(snapshot.bandwidth / 1e9 for snapshot in looks)
    trip_s = statistics.median(snapshot.round_trip_s for snapshot in looks)
    print(
        f"  {name}: {len(looks)} of the measurements, round trip {trip_s * 1e9:.0f} ns, triad "
        f"{statistics.median(bandwidths):.1f} GB/s ({bandwidths[0]:.1f} to {bandwidths[-1]:.1f})"
    )


def main() -> None:
    """Print what was seen of each kind of placement, and how long it lasted."""
    seconds = sys.argv[1] if len(sys.argv) > 1 else DEFAULT_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "cpu_placement")
        subprocess.run(["gcc", "-O2", "-pthread", "-o", program, SOURCE], check=True)
        printed = subprocess.run([program, seconds], capture_output=True, text=True, check=True).stdout
    looks = [Snapshot(*map(float, line.split())) for line in printed.splitlines()]
    if len(looks) < MIN_LOOKS:
        raise SystemExit(f"cpu_placement: {len(looks)} measurements in {seconds} s; give more time, such as 60")
    limit_s = limit_between(looks)
    print(f"cpu_placement: {len(looks)} measurements in {seconds} s")
    if limit_s is None:
        print_kind("one kind", looks)
        return
    print_kind("near", [snapshot for snapshot in looks if snapshot.round_trip_s < limit_s])
    print_kind("far", [snapshot for snapshot in looks if snapshot.round_trip_s >= limit_s])
    stays = [list(stay) for _, stay in groupby(looks, key=lambda snapshot: snapshot.round_trip_s < limit_s)]
    lasted = [stay[-1].at_s - stay[0].at_s for stay in stays]
    print(f"  {len(stays) - 1} changes; a kind lasted for {statistics.median(lasted):.1f} s in the median")


if __name__ == "__main__":
    main()
