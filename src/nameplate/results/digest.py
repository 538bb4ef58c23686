"""What a run's samples come to, figure by figure: as its file's last line, a folder of many runs is read in seconds."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from nameplate.hostlist import compress
from nameplate.probes.shared.job import nodes_of
from nameplate.records.model import Figures, FigureValue
from nameplate.results.run_file import RunFile, append_figures
from nameplate.results.summarise import headlines, nodes_in


@cache
def code_fingerprint() -> str:
    """The code that figures are computed by: a change anywhere in it may change them."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def add_figures(file: RunFile) -> None:
    """Makes what a whole run comes to its file's last line. Raises FileError."""
    append_figures(file, figures_of(file))


def figures_of(file: RunFile) -> Figures:
    """Each figure once: a cell that the plan has as a series too counts as measured in rounds. Of no checksum yet."""
    of_nodes = _of_nodes(file)
    series = {experiment.id for experiment in file.run.plan.experiments if experiment.interval_s}
    own: dict[bytes, FigureValue] = {}
    for identity, figure, value, interval in headlines(file):
        key = msgspec.msgpack.encode(figure, order="deterministic")
        if key not in own or identity not in series:
            ci = (interval.low, interval.high) if interval else None
            own[key] = FigureValue(figure, value, ci, of_nodes.get((identity, figure.metric), {}))
    return Figures(
        by=code_fingerprint(),
        crc32=0,
        started=file.run.started,
        machine=_machine_of(file),
        plan=file.run.plan.name,
        values=list(own.values()),
    )


def _of_nodes(file: RunFile) -> dict[tuple[str, str], dict[str, float]]:
    """By experiment and metric, what each node of a job came to."""
    nodes = nodes_in(file)
    if nodes is None:
        return {}
    return {
        (metric.experiment, metric.metric): {
            name: value for name, value in zip(nodes.names, metric.value, strict=True) if value is not None
        }
        for metric in nodes.metrics
    }


def _machine_of(file: RunFile) -> str:
    machine: dict[str, Any] = file.headers[0].machine if file.headers else {}
    names = nodes_of(machine)
    return compress(names) if len(names) > 1 else str(machine.get("hostname", "unknown"))
