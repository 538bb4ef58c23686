"""Implement ``nameplate compare``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.commands._percent import parse_percent
from nameplate.commands._reading import read_report
from nameplate.commands._verdicts import AGAINST, NOT_COMPARABLE, exit_code, gate_code, print_json
from nameplate.comparison.base_runs import compare_with_bases
from nameplate.comparison.best_of_several import compare_several
from nameplate.comparison.input_notes import input_notes, numbered
from nameplate.comparison.metric_rows import overall_verdict
from nameplate.comparison.run_comparison import Deciding, RunComparison, compare_by, compare_runs
from nameplate.errors import UsageError
from nameplate.report.comparison_exports import find_comparison_export
from nameplate.statistics.verdict import SAME_WITHIN

GROUP = "Read results"


def command(  # noqa: PLR0913 (the options of the command line)
    *runs: Path,
    new: Annotated[Path | None, Parameter(show_default=False)] = None,
    by: Annotated[str | None, Parameter(show_default=False)] = None,
    fail_on: Annotated[str | None, Parameter(show_default=False)] = None,
    gate: Deciding = "main",
    strict: bool = False,
    selftest: bool = False,
    budget: Annotated[str | None, Parameter(show_default=False)] = None,
    format: Annotated[str, Parameter(name=["--format", "-f"])] = "table",  # noqa: A002
    all: bool = False,  # noqa: A002
    json: bool = False,
) -> int:
    """Compare two runs: is the machine SLOWER, FASTER or the SAME, and what else differs?

    The main values decide, which are those on the first screen of a run. Their capabilities are compared: what the
    machine delivers without interference. The exit code is 1 if the machine is SLOWER: a main value is worse, or the
    mean of the main values of an area, such as memory. An unchanged machine fails at most one comparison in a hundred.
    The output gives the smallest loss in each area that the two runs would have shown. The exit code is 4 if the
    machine is not judged, since a CPU quota or other programs slowed a run down, and 5 if no metric can be compared.

    Parameters
    ----------
    runs
        The runs BASE and NEW: run files (.jsonl), reports (.html), or outputs of fio, iperf3, STREAM and others. With
        three or more runs, the best value of each metric is marked. With --by, a single run.
    new
        The run to compare with five or more runs of the same machine, which show how much it varies from run to run:
        BASE... --new NEW, or BASE... -- NEW.
    by
        Compare the values of this parameter, such as threads, within one run. Each value is compared with the first.
    fail_on
        Exit with 1 only for a loss of at least this percentage, such as 5%. SAME then means that a change of this size
        is ruled out.
    gate
        The metrics that decide: main, or all. With all, a typical value decides if a metric has no capability, and an
        unchanged machine fails more often.
    strict
        Exit with 4 if a metric that decides is UNSURE, and with 5 if a metric is INCOMPARABLE.
    selftest
        Compare parts of one run with each other, and count how often the machine is called FASTER or SLOWER than
        itself. The run is the given one, or a new run of this machine. The exit code is 1 if that happened.
    budget
        The time that --selftest may measure, such as 10min. Default: 5min.
    format
        The output format: table, or another one, such as markdown. nameplate list formats describes them. Two runs can
        be shown in each of them, everything else as table or json.
    all
        Show every metric in the table, and not only the changed metrics.
    json
        The same as --format json.
    """
    has_by = by is not None
    for is_excluded, message in (
        (selftest and (has_by or new or strict or fail_on), "--selftest compares a run with itself: leave out --by, "
         "--new, --strict and --fail-on"),
        (strict and len(runs) > 2 and not new, "--strict is for the verdicts on two runs: leave it out, or name BASE "
         "and NEW"),
        (budget and not selftest, "--budget limits the measurement of --selftest: add --selftest, or leave out "
         "--budget"),
        (new and (has_by or gate == "all"), "--new compares the main values with several runs: leave out --by and "
         "--gate all"),
        (gate == "all" and (selftest or has_by or len(runs) > 2), "--gate all decides on two runs: name BASE and NEW, "
         "without --by and --selftest"),
    ):  # fmt: skip
        if is_excluded:
            raise UsageError(message)
    limit = parse_percent("--fail-on", fail_on) if fail_on is not None else None
    chosen = _format(format, json)
    if not (selftest or has_by) and (new is not None or len(runs) == 2):
        return _show(_compared(runs, new, limit, gate), limit, strict, all, chosen)
    if chosen not in ("table", "json"):
        raise UsageError(f"--format {chosen} shows two runs: name BASE and NEW, without --by and --selftest")
    if selftest:
        return _self_test(runs, budget, chosen == "json")
    if by is not None:
        return _by(runs, by, limit, strict, chosen == "json")
    return _several(runs, limit, chosen == "json")


def _format(name: str, json: bool) -> str:
    """Return the output format that the options ask for. Raises UsageError if there is no such format."""
    if json and name not in ("table", "json"):
        raise UsageError(f"--json and --format {name}: use one of them")
    if name != "table":
        find_comparison_export(name)
    return "json" if json else name


def _compared(runs: Sequence[Path], new: Path | None, limit: float | None, gate: Deciding) -> RunComparison:
    """Return the comparison of BASE and NEW, or of ``new`` with all of ``runs``."""
    if new is not None:
        bases = [read_report(run) for run in runs]
        return compare_with_bases(bases, read_report(new), limit or SAME_WITHIN, limit or 0.0)
    base, new_report = [read_report(run) for run in runs]
    detects = [report.run.plan.limits.detect for report in (new_report, base)]
    return compare_runs(base, new_report, limit or next(filter(None, detects), SAME_WITHIN), limit or 0.0, gate)


def _show(comparison: RunComparison, limit: float | None, strict: bool, has_all: bool, format_name: str) -> int:
    if format_name == "table":
        from nameplate.report.terminal.comparison import print_comparison  # noqa: PLC0415 (only one of the ways to show it)

        print_comparison(comparison, has_all=has_all)
    else:
        sys.stdout.write(find_comparison_export(format_name)(comparison, limit or 0.0))
    return gate_code(comparison, limit, strict)


def _by(runs: Sequence[Path], name: str, limit: float | None, strict: bool, json: bool) -> int:
    from nameplate.report.terminal.comparison import print_notes, print_rows  # noqa: PLC0415 (only one of the ways to show it)

    if len(runs) != 1:
        raise UsageError(f"--by compares values within one run, but the number of given runs is {len(runs)}: name one")
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
    return 0 if any(row.best for row in rows) else NOT_COMPARABLE


def _self_test(runs: Sequence[Path], budget: str | None, json: bool) -> int:
    """Run the self-test; return exit code 1 if a metric was called faster or slower than itself, else 0."""
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
    return AGAINST if any(row.wrong for row in counts) else 0
