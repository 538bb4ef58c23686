"""Compare the core of the portable wheel, compiled by zig, with the one that g++ compiled here: the same experiments.

The wheel is made by script/build-wheels, which takes some minutes for the first time. The two programs of a pair run
one after the other, in alternating order, and each counts with its best sample, which other programs disturb least. The
kernels are as fast as those of g++ if the median of the ratios is at least 0.99 and the lower end of its interval at
least 0.97. Pass the number of pairs as the first argument (default 7).
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from nameplate.execution.core_process import CoreProcess
from nameplate.execution.launch import Launch, core_path
from nameplate.probes import ResolvedExperiment, load_probes
from nameplate.records.plan_record import Value
from nameplate.tools.pairing import measure_pairs

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, measure, ratio_of

ROOT = Path(__file__).parents[2]
SECONDS = 0.3
EXPERIMENTS: tuple[tuple[str, Mapping[str, Value]], ...] = (
    ("cpu_flops", {"threads": 1, "mix": "fma", "precision": "fp64"}),
    ("cpu_flops", {"threads": 1, "mix": "fma", "precision": "fp32"}),
    ("cpu_intops", {"threads": 1}),
    ("memory_stream", {"threads": 1, "op": "triad", "size": 128 << 20}),
    ("memory_stream", {"threads": 1, "op": "copy", "size": 128 << 20, "stores": "nontemporal"}),
    ("memory_block", {"threads": 1, "op": "read", "size": 16 << 10}),
    ("memory_block", {"threads": 1, "op": "read", "size": 256 << 10}),
    ("memory_block", {"threads": 1, "op": "copy", "size": 256 << 10}),
    ("memory_latency", {"size": 16 << 10}),
    ("memory_latency", {"size": 64 << 20}),
)


def speed(core: Path, probe: str, params: Mapping[str, Value]) -> float:
    """Return the best sample of the probe's first metric, as a rate: the inverse of a time."""
    start = partial(CoreProcess, launch=Launch(core))
    outcome, samples, machine = measure(probe, params, SECONDS, start=start)
    metric = load_probes()[probe].metrics[0]
    resolved = ResolvedExperiment(outcome.params, outcome.facts, machine)
    values = [metric.value(resolved, sample) for sample in samples]
    return max(values) if metric.better == "higher" else 1 / min(values)


def portable_core(folder: Path) -> Path:
    """Make the portable wheel for this processor, and return its program, unpacked into a folder."""
    subprocess.run([ROOT / "script" / "build-wheels", platform.machine()], check=True)
    wheel = max((ROOT / "dist").glob(f"nameplate-*-manylinux_*_{platform.machine()}.whl"), key=os.path.getmtime)
    with zipfile.ZipFile(wheel) as files:
        name = next(
            name_in_wheel for name_in_wheel in files.namelist() if name_in_wheel.endswith("/scripts/nameplate-core")
        )
        path = Path(files.extract(name, folder))
    path.chmod(0o755)
    return path


def main() -> None:
    """Print a line per experiment."""
    pairs = asked_pairs()
    with tempfile.TemporaryDirectory() as folder:
        core = portable_core(Path(folder))
        print(f"the core of the wheel by zig and the core here by g++, {pairs} pairs of {SECONDS:g} s, best samples")
        for probe, params in EXPERIMENTS:
            rates, here = measure_pairs(
                pairs, partial(speed, core, probe, params), partial(speed, core_path(), probe, params)
            )
            command = " ".join([probe, *(f"{name}={value}" for name, value in params.items())])
            print(f"  {command}: ratio {ratio_of(rates, here)}", flush=True)


if __name__ == "__main__":
    main()
