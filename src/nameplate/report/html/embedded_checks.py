"""Check the data embedded in a report once, so that the code that uses them need not.

Decoding has already checked types and ranges (``nameplate.records``). Each private function yields the problems of its
argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from nameplate.probes import probe_of
from nameplate.records.node_record import Nodes
from nameplate.records.result import Report, Result
from nameplate.records.study_record import Study
from nameplate.results.record_checks import problem_of_run


def problem_of_report(report: Report) -> str:
    """Return the first inconsistency of a decoded report as text, or "".

    An example is "result 'x': a value without round_values". The check includes the run, the parameters and facts,
    equal lengths of lists, and the range of indices. A probe that this version does not know is not a problem.
    """
    problems = chain(
        filter(None, [problem_of_run(report.run)]),
        chain.from_iterable(map(_of_result, report.results)),
        chain.from_iterable(_of_rows(f"table '{t.title}'", t.rows, len(t.headings)) for t in report.tables),
        _of_nodes(report.nodes) if report.nodes else (),
        _of_study(report.study) if report.study else (),
    )
    return next(problems, "")


def _of_result(result: Result) -> Iterator[str]:
    summary, series = result.summary, result.series
    is_measured = summary.value is not None and result.kind == "measured"
    recorded = probe_of(summary.probe).recorded
    name = f"result '{result.id}'"
    if problem := recorded.problem_of_result(summary.params, result.facts) if is_measured else "":
        yield f"{name}: {problem}"
    if problem := recorded.problem_of_params(summary.params):
        yield f"{name}: {problem}"
    if (is_measured or result.kind == "imported") and not result.round_values:
        yield f"{name}: a value without round_values"
    if len({len(series.start_s), len(series.value), len(series.disturbed), len(series.round)}) > 1:
        yield f"{name}: the lists of the series differ in length"


def _of_rows(name: str, rows: Sequence[Sequence[object]], n_columns: int) -> Iterator[str]:
    for number, row in enumerate(rows, start=1):
        if len(row) != n_columns:
            yield f"{name}: row {number} has {len(row)} cells for {n_columns} columns"


def _of_nodes(nodes: Nodes) -> Iterator[str]:
    n_nodes = len(nodes.names)
    if len(nodes.classes) != n_nodes:
        yield f"nodes: {len(nodes.classes)} classes for {n_nodes} names"
    for metric in nodes.metrics:
        lists = (metric.value, metric.gap, metric.z, metric.spread, metric.minimum or metric.value,
                 metric.maximum or metric.value)  # fmt: skip
        if any(len(values) != n_nodes for values in lists):
            yield f"nodes: {metric.title}: a list does not have {n_nodes} entries, one per node"
        if not all(0 <= index < n_nodes for index in metric.slow):
            yield f"nodes: {metric.title}: a slow node's index is not below {n_nodes}"


def _of_study(study: Study) -> Iterator[str]:
    for table in study.tables:
        if len(table.cells) != len(table.rows):
            yield f"study: table '{table.title}' has {len(table.cells)} rows of cells for {len(table.rows)} names"
        yield from _of_rows(f"study: table '{table.title}'", table.cells, len(table.columns))
