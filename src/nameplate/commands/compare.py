"""Implement ``nameplate compare``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from nameplate.commands._percent import parse_percent
from nameplate.commands._reading import read_report
from nameplate.comparison.best_of_several import compare_several
from nameplate.comparison.input_notes import input_notes, numbered
from nameplate.comparison.metric_rows import ComparisonRow, overall_verdict
from nameplate.comparison.run_comparison import compare_by, compare_runs
from nameplate.errors import UsageError
from nameplate.records.result import Report
from nameplate.report.comparison_exports import find_comparison_export
from nameplate.report.comparison_exports.json import json_text
from nameplate.statistics.verdict import SAME_WITHIN, Verdict

_AGAINST, _UNSURE, _NOT_COMPARABLE = 1, 4, 5


def command(  # noqa: PLR0913 (the options of the command line)
    *runs: Path,
    by: Annotated[str | None, Parameter(show_default=False)] = None,
    fail_on: Annotated[str | None, Parameter(show_default=False)] = None,
    strict: bool = False,
    selftest: bool = False,
    budget: Annotated[str | None, Parameter(show_default=False)] = None,
    format: Annotated[str, Parameter(name=["--format", "-f"])] = "table",  # noqa: A002
    all: bool = False,  # noqa: A002
    json: bool = False,
) -> int:
    """Compare the metrics of two runs: each is FASTER, SLOWER, SAME, UNSURE or INCOMPARABLE.

    There are two verdicts on a metric: on what the machine is capable of when nothing else takes part, and on what was
    typical during the runs. The exit code is 1 if the capability of a metric is SLOWER, and 5 if none can be compared.
    With --strict it is 4 if one is UNSURE. Without a capability, the typical value decides.

    Parameters
    ----------
    runs
        The runs BASE and NEW: run files (.jsonl), reports (.html), or outputs of fio, iperf3, STREAM and others. With
        three or more runs, the best value of each metric is marked. With --by, a single run.
    by
        Compare the values of this parameter within one run, such as threads. Each is compared with the first.
    fail_on
        Exit with 1 only if a metric is SLOWER by at least this percentage, such as 5%. SAME then means that a change of
        this size is ruled out.
    strict
        Exit with 4 if a metric is UNSURE, and with 5 if one is INCOMPARABLE.
    selftest
        Count how often a machine is called faster or slower than itself: in the rounds of the given run, or in a new
        run of this machine.
    budget
        The time that --selftest may measure, such as 10min. Default: 5min.
    format
        The output format: table, json, markdown (at most 40 lines, for a comment on a pull request) or junit (a test
        for each verdict, for CI systems). Two runs can be shown in each of them, everything else as table or json.
    all
        Show every metric in the table, and not only the changed metrics.
    json
        The same as --format json.
    """
    if selftest and (by is not None or strict or fail_on is not None):
        raise UsageError("--selftest compares a run with itself: leave out --by, --strict and --fail-on")
    if len(runs) > 2 and strict:
        raise UsageError("--strict is for the verdicts on two runs: leave it out, or name BASE and NEW")
    if budget is not None and not selftest:
        raise UsageError("--budget limits the measurement of --selftest: add --selftest, or leave out --budget")
    limit = parse_percent("--fail-on", fail_on) if fail_on is not None else None
    chosen = _format(format, json)
    if len(runs) == 2 and by is None and not selftest:
        return _two([read_report(run) for run in runs], limit, strict, all, chosen)
    if chosen not in ("table", "json"):
        raise UsageError(f"--format {chosen} shows two runs: name BASE and NEW, without --by and --selftest")
    if selftest:
        return _self_test(runs, budget, chosen == "json")
    if by is not None:
        return _by(runs, by, limit, strict, chosen == "json")
    return _several(runs, limit, chosen == "json")


def _format(name: str, json: bool) -> str:
    """Return the format that the options ask for, which exists."""
    if json and name not in ("table", "json"):
        raise UsageError(f"--json and --format {name}: use one of them")
    if name != "table":
        find_comparison_export(name)
    return "json" if json else name


def _two(reports: Sequence[Report], limit: float | None, strict: bool, has_all: bool, format_name: str) -> int:
    from nameplate.report.terminal.comparison import print_comparison  # noqa: PLC0415 (only one of the ways to show it)

    export = None if format_name == "table" else find_comparison_export(format_name)

    detects = [report.run.plan.limits.detect for report in reports]
    found = compare_runs(reports[0], reports[1], limit or next(filter(None, reversed(detects)), SAME_WITHIN))
    if export:
        sys.stdout.write(export(found, limit or 0.0))
    else:
        print_comparison(found, has_all=has_all)
    return exit_code(found.rows, limit, strict)


def _by(runs: Sequence[Path], name: str, limit: float | None, strict: bool, json: bool) -> int:
    from nameplate.report.terminal.comparison import print_notes, print_rows  # noqa: PLC0415 (only one of the ways to show it)

    if len(runs) != 1:
        raise UsageError(f"--by compares values within one run, but {len(runs)} were given: name one")
    report = read_report(runs[0])
    rows, notes = compare_by(report, name, limit or SAME_WITHIN), input_notes([("the run", report)])
    if json:
        print_json(rows, overall_verdict(rows, limit or 0.0), notes)
    else:
        print_rows(rows, ("first value", "this value"))
        print_notes(notes)
    return exit_code(rows, limit, strict)


def _several(runs: Sequence[Path], limit: float | None, json: bool) -> int:
    from nameplate.report.terminal.comparison import print_notes, print_several  # noqa: PLC0415 (only one of the ways to show it)

    if len(runs) < 2:
        raise UsageError("compare needs two runs: name BASE and NEW, or one run with --by PARAMETER")
    if limit is not None:
        raise UsageError(f"--fail-on compares two runs, but {len(runs)} were given: name BASE and NEW")
    reports = [read_report(run) for run in runs]
    rows, notes = compare_several(reports), input_notes(numbered(reports))
    if json:
        print_json(rows, notes=notes)
    else:
        print_several(rows, [run.stem for run in runs])
        print_notes(notes)
    return 0 if any(row.best for row in rows) else _NOT_COMPARABLE


def exit_code(rows: Sequence[ComparisonRow], limit: float | None, strict: bool = False) -> int:
    """Return 1 for a capability that is SLOWER, 5 if nothing could be compared, 4 for UNSURE with ``strict``, else 0.

    ``limit`` is the smallest loss that counts, as a share; None counts all.
    """
    verdicts = {row.machine_verdict for row in rows}
    overall = overall_verdict(rows, limit or 0.0)
    if overall == "SLOWER":
        return _AGAINST
    if overall == "INCOMPARABLE" or (strict and "INCOMPARABLE" in verdicts):
        return _NOT_COMPARABLE
    return _UNSURE if strict and "UNSURE" in verdicts else 0


def print_json(rows: Sequence[msgspec.Struct], verdict: Verdict | None = None, notes: Sequence[str] = ()) -> None:
    """Print ``{"schema", "verdict", "notes": […], "rows": […]}``, without the verdict if there is none on the whole."""
    sys.stdout.write(json_text(rows, verdict, notes))


def _self_test(runs: Sequence[Path], budget: str | None, json: bool) -> int:
    """Run the self-test, and return exit code 1 if a metric was called faster or slower than itself."""
    from nameplate.commands._self_test import measured_against_itself  # noqa: PLC0415 (only this way measures)
    from nameplate.comparison.false_positives import count_false_positives  # noqa: PLC0415 (scipy's distributions take a second to import)
    from nameplate.report.terminal.comparison import print_false_positives, print_notes  # noqa: PLC0415 (only one of the ways to show it)

    if len(runs) > 1 or (runs and budget):
        raise UsageError("--selftest takes one run, or measures one within --budget: leave out the rest")
    if runs:
        report = read_report(runs[0])
    else:
        report, path = measured_against_itself(budget)
        print(f"run file: {path}", file=sys.stderr)
    counts = count_false_positives(report)
    if not counts:
        raise UsageError("--selftest needs at least 12 rounds: measure them with nameplate run quick --rounds 60")
    notes = input_notes([("the run", report)])
    if json:
        print_json(counts, notes=notes)
    else:
        print_false_positives(counts)
        print_notes(notes)
    return _AGAINST if any(row.wrong for row in counts) else 0
