"""``nameplate compare``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from nameplate.commands._reading import read_report
from nameplate.comparison.run_comparison import ComparisonRow, compare_by, compare_runs, compare_several
from nameplate.errors import UsageError
from nameplate.records.model import SCHEMA, Report
from nameplate.statistics.two_samples import SAME_WITHIN

_AGAINST, _UNSURE, _NOT_COMPARABLE = 1, 4, 5
_MAX_PERCENT = 50.0


def command(  # noqa: PLR0913 (the options of the command line)
    *runs: Path,
    by: Annotated[str | None, Parameter(show_default=False)] = None,
    fail_on: Annotated[str | None, Parameter(show_default=False)] = None,
    strict: bool = False,
    selftest: bool = False,
    budget: Annotated[str | None, Parameter(show_default=False)] = None,
    json: bool = False,
) -> int:
    """Compare a run with an earlier one, figure by figure: FASTER, SLOWER, SAME, UNSURE or INCOMPARABLE.

    Exit code: 1 when a figure is SLOWER, 5 when none could be compared, with --strict 4 when one is UNSURE.

    Parameters
    ----------
    runs
        BASE NEW: two run files (.jsonl), reports (.html), or outputs of fio, iperf3, STREAM and others. Of three or
        more the best of each figure is marked; one with --by.
    by
        A parameter of which one run has several values, such as threads: each beside the first.
    fail_on
        Exit with 1 only where a figure is SLOWER by so much: 5%. SAME then rules out a change of that size.
    strict
        Exit with 4 when a figure is UNSURE, with 5 when one is INCOMPARABLE.
    selftest
        Measure this machine against itself, or take the rounds of the run that is named: how often would it have been
        called faster or slower?
    budget
        How long that may take: 10min; default: 5min.
    json
        The rows as JSON.
    """
    if budget is not None and not selftest:
        raise UsageError("--budget is for --selftest, which measures; to compare takes no time")
    limit = _percent(fail_on) if fail_on is not None else None
    if selftest:
        return _self_test(runs, budget, json)
    if by is not None:
        if len(runs) != 1:
            raise UsageError(f"--by compares the values of one parameter in one run, not in {len(runs)}")
        return _by(read_report(runs[0]), by, limit, strict, json)
    if len(runs) < 2:
        raise UsageError("compare needs two runs, BASE NEW, or one with --by PARAMETER")
    reports = [read_report(run) for run in runs]
    if len(reports) > 2:
        return _several(reports, [run.stem for run in runs], limit, json)
    return _two(reports, limit, strict, json)


def _two(reports: Sequence[Report], limit: float | None, strict: bool, json: bool) -> int:
    from nameplate.report.terminal.comparison import print_comparison  # noqa: PLC0415 (only one of the ways to show it)

    found = compare_runs(reports[0], reports[1], limit or SAME_WITHIN)
    if json:
        _print_json(found.rows)
    else:
        print_comparison(found)
    return _exit_code(found.rows, limit, strict)


def _by(report: Report, name: str, limit: float | None, strict: bool, json: bool) -> int:
    from nameplate.report.terminal.comparison import print_rows  # noqa: PLC0415 (only one of the ways to show it)

    rows = compare_by(report, name, limit or SAME_WITHIN)
    if json:
        _print_json(rows)
    else:
        print_rows(rows, ("at the first", "here"))
    return _exit_code(rows, limit, strict)


def _several(reports: Sequence[Report], names: Sequence[str], limit: float | None, json: bool) -> int:
    from nameplate.report.terminal.comparison import print_several  # noqa: PLC0415 (only one of the ways to show it)

    if limit is not None:
        raise UsageError(f"--fail-on compares two runs, BASE NEW, not {len(reports)}")
    rows = compare_several(reports)
    if json:
        _print_json(rows)
    else:
        print_several(rows, names)
    return 0 if any(row.best for row in rows) else _NOT_COMPARABLE


def _exit_code(rows: Sequence[ComparisonRow], limit: float | None, strict: bool) -> int:
    verdicts = {row.verdict for row in rows}
    if any(row.verdict == "SLOWER" and _loss(row) >= (limit or 0.0) for row in rows):
        return _AGAINST
    if not verdicts - {"INCOMPARABLE"} or (strict and "INCOMPARABLE" in verdicts):
        return _NOT_COMPARABLE
    return _UNSURE if strict and "UNSURE" in verdicts else 0


def _loss(row: ComparisonRow) -> float:
    """How much worse, as a share: of a rate that halved and of a time that doubled the same."""
    ratio = row.ratio or 1.0
    return 1 - min(ratio, 1 / ratio)


def _percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = 0.0
    if not (text.endswith("%") and 0 < value <= _MAX_PERCENT):
        raise UsageError(f"--fail-on {text} is not possible: a share such as 5%, at most {_MAX_PERCENT:g}%")
    return value / 100


def _print_json(rows: Sequence[msgspec.Struct]) -> None:
    """``{"schema", "rows": […]}``."""
    document: dict[str, Any] = {"schema": SCHEMA, "rows": rows}
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")


def _self_test(runs: Sequence[Path], budget: str | None, json: bool) -> int:
    """Exit code 1 where a figure was called faster or slower than itself."""
    from nameplate.commands._self_test import measured_against_itself  # noqa: PLC0415 (only this way measures)
    from nameplate.comparison.false_positives import count_falses  # noqa: PLC0415 (scipy's distributions take a second to import)
    from nameplate.report.terminal.comparison import print_falses  # noqa: PLC0415 (only one of the ways to show it)

    if len(runs) > 1 or (runs and budget):
        raise UsageError("--selftest takes one run, or none and measures: leave out the others, and --budget beside it")
    if runs:
        report = read_report(runs[0])
    else:
        report, path = measured_against_itself(budget)
        print(f"run file: {path}")
    falses = count_falses(report)
    if not falses:
        raise UsageError("--selftest needs a run of at least 12 rounds: nameplate run quick --rounds 60")
    if json:
        _print_json(falses)
    else:
        print_falses(falses)
    return _AGAINST if any(row.wrong for row in falses) else 0
