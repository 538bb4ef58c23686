"""Read outputs of other tools as a run, in which every file is a round."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from nameplate.control_characters import clean_json, clean_text
from nameplate.errors import FileError, Unreadable
from nameplate.planning.sweep import experiment_id
from nameplate.probes import probe_of
from nameplate.records.inputs import modified_s, read_input
from nameplate.records.plan_record import Experiment, Limits, Plan, Value
from nameplate.records.result import Rated, Report, Result, Series, Summary
from nameplate.records.run_record import SCHEMA, Run
from nameplate.statistics.stats import median, median_interval
from nameplate.tools.external import Importer, importer_of, load_importers
from nameplate.tools.output import Imported

# Outputs of these tools have a few KB; those of fio with all percentiles have about a hundred.
_MAX_BYTES = 16 << 20

_Key = tuple[str, str, tuple[tuple[str, Value], ...]]


def read_imported(path: Path) -> Report:
    """Return a report on an output of a known tool, or on a folder of such outputs of one tool.

    Each file of the folder counts as a round; its subfolders are ignored. A result is the median over the files that
    have its metric with the same parameters. The report has no machine, and no metric has a reference value. Its time
    is that of the file that was modified first.

    Raises:
        FileError: a file cannot be read, is larger than 16 MiB, is of no known tool or damaged, or the folder has no
            files or outputs of several tools.
    """
    files = _files_in(path) if path.is_dir() else [path]
    if not files:
        raise FileError(f"{path} is empty")
    read = [(file, *_read(file)) for file in files]
    tools = {importer.name for _, importer, _ in read}
    if len(tools) > 1:
        raise FileError(
            f"{path} contains outputs of {' and '.join(sorted(tools))}; a folder must have outputs of one tool, which "
            "count as repeats"
        )
    values: dict[_Key, list[float]] = {}
    for _, _, imported in read:
        for each in imported:
            key = (each.probe, each.metric, tuple(sorted(each.params.items())))
            values.setdefault(key, []).append(each.value)
    started = datetime.fromtimestamp(min(modified_s(file) for file in files), timezone.utc)
    return _report(read[0][1].name, started, [_result(key, rounds) for key, rounds in values.items()], path)


def _files_in(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.is_file())
    except OSError as error:
        raise FileError(f"cannot read {folder}: {error.strerror}") from None


def _read(path: Path) -> tuple[Importer, Sequence[Imported]]:
    text = _clean(read_input(path, _MAX_BYTES, "output of a tool"))
    importer = importer_of(text)
    if importer is None:
        raise FileError(
            f"{path} is neither a run file nor an output of {', '.join(each.name for each in load_importers())}"
        )
    try:
        return importer, importer.read(text)
    except (Unreadable, FileError) as error:
        raise FileError(f"{path}: {importer.name}: {error}") from None


def _clean(content: bytes) -> str:
    """Return a tool's output without control characters, including control characters that JSON writes as escapes."""
    # For text that is not JSON, or is damaged, the tool's own reader has the better message.
    with suppress(ValueError, RecursionError):
        content = clean_json(content)
    return clean_text(content.decode(errors="replace"))


def _report(tool: str, started: datetime, results: list[Result], path: Path) -> Report:
    experiments = [Experiment(result.id, result.summary.probe, result.summary.params) for result in results]
    run = Run(
        schema=SCHEMA, version=tool, started=started.isoformat(timespec="seconds"),
        plan=Plan(f"outputs of {tool}", experiments, Limits(0.0, 0.0)), seed=0, rated={},
    )  # fmt: skip
    note = f"read from {path.name}: values of {tool}, not measured by nameplate"
    return Report(
        run=run, machine=None, clock=None, results=results, tables=[], truncated=False, interrupted=False, notes=[note]
    )


def _result(key: _Key, rounds: list[float]) -> Result:
    probe, metric_name, params = key
    metric = next(metric for metric in probe_of(probe).metrics if metric.name == metric_name)
    interval = median_interval(rounds)
    best = max(rounds) if metric.better == "higher" else min(rounds)
    unrated = Rated(None, "imported")
    summary = Summary(
        probe=probe, params=dict(params), metric=metric_name, value=median(rounds), unit=metric.unit,
        ci=(interval.low, interval.high) if interval else None, rounds=len(rounds), samples=len(rounds),
        mean=statistics.fmean(rounds), best=best, sustained=None, p95=None, p99=None, rated=None, efficiency=None,
        outcome="ok", reason="rated: imported", stop="imported", disturbed=0.0,
    )  # fmt: skip
    return Result(
        id=experiment_id(probe, summary.params), summary=summary, better=metric.better, rated=unrated,
        efficiency_ci=None, series=Series([], [], [], []), round_values=rounds, utilisation=0.0, oversubscribed=False,
        facts={}, kind="imported",
    )  # fmt: skip
