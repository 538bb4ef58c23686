"""Show what each experiment of `quick` costs, and how well its metrics repeat from run to run.

    bench/statistics/quick_experiments.py [RUN.jsonl RUN.jsonl ...]     default: measures three runs of quick

Experiments are grouped by probe and by the words that they have in common. "Seconds" are those of a run, "set-up" the
part before the first sample. "Interval" is the median half width of the 95 % interval of the capability. "Within" is
the share of the metrics whose capabilities agree within 3 % and 10 %, over all pairs of runs.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from nameplate.commands._reading import read_report
from nameplate.records.result import Report, Result
from nameplate.results.run_file import read_run

RUNS = 3
CLOSE = (0.03, 0.1)
# Parameters whose values are points of a curve.
CURVES = ("size", "block", "payload")


@dataclass
class Group:
    """Experiments of one kind: their time in a run, and the metrics of each run."""

    experiments: set[str] = field(default_factory=set)
    total_s: float = 0.0
    setup_s: float = 0.0
    half_widths: list[float] = field(default_factory=list)
    differences: list[float] = field(default_factory=list)

    def line(self, name: str, runs: int, all_s: float) -> str:
        """Return the group as a row of the table."""
        total_s, setup_s = self.total_s / runs, self.setup_s / runs
        width = f"{statistics.median(self.half_widths):6.1%}" if self.half_widths else "     –"
        shares = [sum(difference <= math.log1p(limit) for difference in self.differences) / len(self.differences)
                  if self.differences else math.nan for limit in CLOSE]  # fmt: skip
        return (
            f"{name:44} {len(self.experiments):3} {total_s:6.2f} s {total_s / all_s:4.0%} {setup_s / total_s:5.0%}"
            f" {width}  {shares[0]:4.0%} {shares[1]:4.0%}"
        )


def name_of(probe: str, params: dict[str, object], varied: set[str]) -> str:
    """Return a name for experiments of a probe that differ only in a point of a curve."""
    parts = [f"{key}={params[key]}" for key in sorted(varied) if key in params and key not in CURVES]
    return " ".join([probe, *parts])


def groups_of(paths: Sequence[Path]) -> dict[str, Group]:
    """Return the groups of experiments of runs of the same plan."""
    groups: dict[str, Group] = defaultdict(Group)
    names: dict[str, str] = {}
    varied: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    reports = [read_report(path) for path in paths]
    for result in reports[0].results:
        for key, value in result.summary.params.items():
            varied[result.summary.probe][key].add(str(value))
    for result in reports[0].results:
        keys = {key for key, values in varied[result.summary.probe].items() if len(values) > 1}
        names[result.id] = name_of(result.summary.probe, dict(result.summary.params), keys)
    for path in paths:
        for measurement in read_run(path).measurements:
            group = groups[names.get(measurement.outcome.id, measurement.outcome.probe)]
            group.experiments.add(measurement.outcome.id)
            group.total_s += measurement.outcome.total_s
            group.setup_s += measurement.outcome.setup_s
    add_metrics(groups, names, reports)
    return groups


def add_metrics(groups: dict[str, Group], names: dict[str, str], reports: Sequence[Report]) -> None:
    """Add the intervals and the differences between runs of the metrics that have a capability."""
    by_metric: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for report in reports:
        for result in report.results:
            if result.kind == "measured" and result.summary.capability:
                by_metric[result.id, result.summary.metric].append(result)
    for (experiment, _), results in by_metric.items():
        group = groups[names[experiment]]
        values = [float(result.summary.capability or math.nan) for result in results]
        group.differences += [abs(math.log(a / b)) for a, b in combinations(values, 2)]
        group.half_widths += [(ci[1] - ci[0]) / 2 / value for value, result in zip(values, results, strict=True)
                              if (ci := result.summary.capability_ci)]  # fmt: skip


def measured(folder: Path) -> list[Path]:
    """Measure runs of `quick` and return their files."""
    paths = [folder / f"quick-{number}.jsonl" for number in range(RUNS)]
    for path in paths:
        subprocess.run([sys.executable, "-m", "nameplate", "run", "--quiet", "-o", str(path)], check=True)
    return paths


def main() -> None:
    """Print the table, most expensive first."""
    with TemporaryDirectory() as folder:
        paths = [Path(name) for name in sys.argv[1:]] or measured(Path(folder))
        groups = groups_of(paths)
    all_s = sum(group.total_s for group in groups.values()) / len(paths)
    print(f"{len(paths)} runs, {all_s:.1f} s of experiments in each")
    print(f"{'':44}   n seconds      set-up interval  3 %  10 %")
    for name, group in sorted(groups.items(), key=lambda item: -item[1].total_s):
        print(group.line(name, len(paths), all_s))


if __name__ == "__main__":
    main()
