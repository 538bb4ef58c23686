"""Read outputs of other tools as a run, in which each file is one round."""

from __future__ import annotations

import codecs
import hashlib
import re
import statistics
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from nameplate.control_characters import clean_text
from nameplate.errors import FileError, ReadError, Unreadable
from nameplate.planning.sweep import experiment_id
from nameplate.probes import probe_of
from nameplate.records.inputs import files_in, is_folder, modified_s, read_input
from nameplate.records.plan_record import Experiment, Limits, Plan, Value
from nameplate.records.result import ImportedFile, Rated, Report, Result, Series, Summary
from nameplate.records.run_record import SCHEMA, Run
from nameplate.statistics.rounding import COARSE, rounding_text
from nameplate.statistics.stats import median, median_interval
from nameplate.tools.external import importers_of, load_importers
from nameplate.tools.output import Imported, Key, ToolOutput, shortened

# Most outputs have a few KB; an output of fio with all percentiles has about 100 KB.
_MAX_BYTES = 16 << 20
_COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")


def read_imported(path: Path) -> Report:
    """Return a report on an output of a known tool, or on a folder of outputs of one known tool.

    Each file of the folder is one round; subfolders are ignored. If a tool prints the time of its run, a file with the
    same text as another one is a copy and is ignored. Each result is the median of one metric with the same parameters
    over all files that contain it. The report's start time is the modification time of the oldest file, and
    ``imported`` has the name and SHA-256 of each file. Its machine is None, and no metric has a reference value. The
    notes list everything that was not read, with the reason.

    Raises:
        FileError: a file cannot be read or is larger than 16 MiB, no file is a readable output of a known tool, or the
            folder is empty or has outputs of several tools.
    """
    files = files_in(path) if is_folder(path) else [path]
    if not files:
        raise FileError(f"{path} is empty; give a folder with outputs of one tool")
    outputs, problems, equal = _read_all(files)
    tools = {record.tool for record, _ in outputs}
    if len(tools) > 1:
        raise FileError(
            f"{path} contains outputs of {' and '.join(sorted(tools))}; a folder must have outputs of one tool, which "
            "count as repeats"
        )
    rounds: dict[Key, list[Imported]] = {}
    for value in (value for _, output in outputs for value in output.values):
        rounds.setdefault(value.key, []).append(value)
    restrictions = dict.fromkeys(
        value.restriction for values in rounds.values() for value in values if value.restriction
    )
    skipped = [f"{record.name}: {reason}" for record, output in outputs for reason in output.skipped]
    is_mixed = any(
        (value.possible, value.location) != (values[0].possible, values[0].location)
        for values in rounds.values()
        for value in values
    )
    return _report(
        records=[record for record, _ in outputs],
        started=datetime.fromtimestamp(min(map(modified_s, files)), timezone.utc),
        results=[_result(values) for values in rounds.values()],
        notes=[
            *(f"{restriction}: the value does not show what the machine can do" for restriction in restrictions),
            *(["results are of outputs with different settings, folders, devices or hosts"] if is_mixed else []),
            *(f"not read: {reason}" for reason in (*shortened(skipped), *shortened(problems))),
            *(
                [f"{', '.join(shortened(equal))}: if a file is only a copy of another, remove the copy"]
                if equal
                else []
            ),
        ],
        path=path,
    )


def _read_all(files: Sequence[Path]) -> tuple[list[tuple[ImportedFile, ToolOutput]], list[FileError], list[str]]:
    """Return the outputs that were read, the errors of other files, and a sentence for each file that equals another.

    A file without the time of its run may equal another file without being a copy. Raises the first error if no file
    was read.
    """
    outputs: list[tuple[ImportedFile, ToolOutput]] = []
    problems: list[FileError] = []
    equal: list[str] = []
    names: dict[str, str] = {}
    for file in files:
        try:
            text, record, output = _read(file)
            # A copy may have other line endings, another encoding or other spaces.
            digest = hashlib.sha256("".join(text.split()).encode()).hexdigest()
            if digest in names and output.is_dated:
                raise FileError(f"{file} is the same output as {names[digest]}, not a further round")
            if digest in names:
                equal.append(f"{file.name} is equal to {names[digest]}")
            names.setdefault(digest, file.name)
            outputs.append((record, output))
        except ReadError:
            raise
        except FileError as error:
            problems.append(error)
    if not outputs:
        raise problems[0]
    return outputs, problems, equal


def _read(path: Path) -> tuple[str, ImportedFile, ToolOutput]:
    """Return the text of an output file, the record of the file, and the values that the text contains."""
    content = read_input(path, _MAX_BYTES, "output of a tool")
    text = _clean(content)
    importers = importers_of(text)
    if len(importers) > 1:
        names = " and ".join(importer.name for importer in importers)
        raise FileError(f"{path} contains outputs of {names}: put each into a separate file")
    if not importers:
        raise FileError(
            f"{path} is neither a run file nor an output of {', '.join(importer.name for importer in load_importers())}"
        )
    tool = importers[0].name
    try:
        output = importers[0].read(text)
    except (Unreadable, FileError) as error:
        raise FileError(f"{path}: {tool}: {error}") from None
    digest = hashlib.sha256(content).hexdigest()
    return text, ImportedFile(name=path.name, tool=tool, version=output.version, sha256=digest), output


def _clean(content: bytes) -> str:
    """Return a tool's output as text, without control characters and without the colours that wrappers add.

    ``content`` is UTF-8, or UTF-16 if it has a byte order mark, as with ``>`` in PowerShell.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content.decode("utf-16", errors="replace").encode()
    text = content.removeprefix(codecs.BOM_UTF8).decode(errors="replace")
    return clean_text(_COLOUR.sub("", text))


def _report(
    *, records: list[ImportedFile], started: datetime, results: list[Result], notes: list[str], path: Path
) -> Report:
    tool = records[0].tool
    versions = sorted({record.version for record in records} - {""})
    experiments = [Experiment(result.id, result.summary.probe, result.summary.params) for result in results]
    run = Run(
        schema=SCHEMA, version=" ".join([tool, *versions]), started=started.isoformat(timespec="seconds"),
        plan=Plan(f"outputs of {tool}", experiments, Limits(0.0, 0.0)), seed=0, rated={},
    )  # fmt: skip
    note = f"read from {path.name}: values of {run.version}, not measured by nameplate"
    return Report(
        run=run, machine=None, clock=None, results=results, tables=[], truncated=False, interrupted=False,
        notes=[note, *notes], imported=records,
    )  # fmt: skip


def _result(values: Sequence[Imported]) -> Result:
    """Return the result of one metric with the same parameters; ``values`` has one value per round."""
    first, rounds = values[0], [value.value for value in values]
    metric = next(metric for metric in probe_of(first.probe).metrics if metric.name == first.metric)
    interval, rounding = median_interval(rounds), max(value.rounding for value in values)
    # The interval includes the values before they were rounded.
    ci = (interval.low * (1 - rounding), interval.high / (1 - rounding)) if interval else None
    best = max(rounds) if metric.better == "higher" else min(rounds)
    restriction = next((value.restriction for value in values if value.restriction), "")
    summary = Summary(
        probe=first.probe, params=dict(sorted(first.params.items())), metric=first.metric, value=median(rounds),
        unit=metric.unit, ci=ci, rounds=len(rounds),
        samples=len(rounds), mean=statistics.fmean(rounds), best=best, sustained=None, p95=None, p99=None, rated=None,
        efficiency=None, outcome="ok", reason="rated: imported", stop="imported", disturbed=0.0,
    )  # fmt: skip
    return Result(
        id=experiment_id(first.probe, summary.params), summary=summary, better=metric.better,
        rated=Rated(None, "imported"), efficiency_ci=None, series=Series([], [], [], []), round_values=rounds,
        utilisation=0.0, oversubscribed=False, facts={}, kind="imported",
        possible=_possible_in_all(values), restriction=restriction, rounding=rounding,
        remarks=[*([restriction] if restriction else []), *([rounding_text(rounding)] if rounding > COARSE else [])],
    )  # fmt: skip


def _possible_in_all(values: Sequence[Imported]) -> dict[str, list[Value]]:
    """Return the possible values of each parameter that all rounds restrict, from all rounds together."""
    names = set.intersection(*(set(value.possible) for value in values))
    return {
        name: list(dict.fromkeys(choice for value in values for choice in value.possible[name]))
        for name in sorted(names)
    }
