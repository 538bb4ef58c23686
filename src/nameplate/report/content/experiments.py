"""Determine the titles, labels and colour classes of experiments, which are the same wherever they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nameplate.probes import load_probes
from nameplate.records.plan_record import Value
from nameplate.records.result import Result, Table
from nameplate.report.content.format import count, parameters

# Value ÷ reference value: at least GOOD is good, below POOR is poor.
GOOD, POOR = 0.95, 0.75

# Parameters that only say how a sample is taken are left out of labels.
_UNSAID = ("unit",)

# The label of an experiment whose parameters are all common to its probe's experiments.
ALL_COMMON = "as above"


def is_derived(result: Result) -> bool:
    """Return whether a result was computed from the results of several experiments; it has no samples then."""
    return result.kind == "derived"


def headlines(results: Iterable[Result]) -> list[Result]:
    """Return the first result of every experiment, which is its main metric, in the order of ``results``.

    Results belong to the same experiment if their ``id`` is equal. Every derived result has a different ``id``, so
    derived results are returned as well.
    """
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.id, result)
    return list(first.values())


def by_probe(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Return the results of each probe in their order, by the probe's name; probes are in the order of appearance."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.summary.probe, []).append(result)
    return groups


def title_of(probe: str) -> str:
    """Return the title of the probe named ``probe``, or the name if this version of nameplate has no such probe."""
    known = load_probes().get(probe)
    return known.title if known else probe


def title_of_table(table: Table) -> str:
    """Return a table's title, preceded by its probe's title and a colon if it belongs to a probe."""
    return f"{title_of(table.probe)}: {table.title}" if table.probe else table.title


def common_params(results: Sequence[Result]) -> dict[str, Value]:
    """Return the parameters that have the same value in all of ``results``, in the order of the first result.

    ``results`` are all of one probe. Derived results are ignored unless all results are derived, and results without a
    value are ignored unless no result has a value, since both may lack parameters.

    Raises:
        ValueError: ``results`` is empty.
    """
    not_derived = [result for result in results if not is_derived(result)] or results
    measured = [result for result in not_derived if result.summary.value is not None] or not_derived
    return shared_params([result.summary.params for result in measured])


def shared_params(several: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """Return the parameters that have the same value in all of ``several``, in the order of the first mapping.

    ``several`` has the parameters of at least one experiment, by name.

    Raises:
        ValueError: ``several`` is empty.
    """
    first, *rest = several
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in rest)}


def label_of(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    """Return the parameters of an experiment that are not in ``common``, or ``ALL_COMMON`` if there are none.

    ``params`` are the experiment's parameters by name. ``common``, usually from ``common_params``, are the parameters
    that a heading already shows; a parameter with another value than in ``common`` is returned. The text has the form
    of the command line, such as ``threads=2 size=4KiB``.
    """
    return differing_params(params, common) or ALL_COMMON


def differing_params(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    """Return the parameters of an experiment that are not in ``common``, or "" if there are none.

    ``params`` are the experiment's parameters by name. ``common``, usually from ``common_params``, are the parameters
    that a heading already shows; a parameter with another value than in ``common`` is returned. The text has the form
    of the command line, such as ``threads=2 size=4KiB``.
    """
    return parameters({name: value for name, value in params.items() if common.get(name) != value})


def work_text(params: Mapping[str, Value], metric: str, always_metric: bool = False) -> str:
    """Return a label from the parameters that the plan gives to an experiment, such as ``read, 2 threads``.

    If no parameter is text, or with ``always_metric``, the label begins with the metric: ``latency, 128KiB``.
    """
    said = {name: value for name, value in params.items() if name not in _UNSAID}
    parts = [
        count(value, "thread") if name == "threads" and isinstance(value, int) else
        str(value) if isinstance(value, str) else parameters({name: value}).removeprefix("size=")
        for name, value in said.items()
    ]  # fmt: skip
    has_text = any(isinstance(value, str) for value in said.values())
    return ", ".join(parts if has_text and not always_metric else [metric, *parts])


def mood_of(result: Result, is_judged: bool = True) -> str:
    """Return the class by which a value is coloured: "good", "poor" or "plain".

    An invalid or failed experiment is poor. Without ``is_judged``, any other result is plain, since a run that a quota
    or other programs slowed down says nothing about its machine. If higher values are better, the result is good if
    value ÷ reference value is at least ``GOOD`` (0.95), poor if it is below ``POOR`` (0.75), and plain otherwise. A
    result without a reference value is plain, and so is one whose lower values are better.
    """
    row = result.summary
    if row.outcome in ("invalid", "failed"):
        return "poor"
    if not is_judged or row.efficiency is None or result.better == "lower":
        return "plain"
    return "good" if row.efficiency >= GOOD else "poor" if row.efficiency < POOR else "plain"
