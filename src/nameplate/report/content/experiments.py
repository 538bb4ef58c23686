"""Titles, labels and moods that tell the experiments of a run apart, the same wherever an experiment is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nameplate.probes import load_probes
from nameplate.records.plan_record import Value
from nameplate.records.result import Result, Table
from nameplate.report.content.format import parameters

# Shares of the reference value: at least GOOD is good, below POOR is poor.
GOOD, POOR = 0.95, 0.75

# The label of an experiment whose parameters are all common to its probe's experiments.
ALL_COMMON = "as above"


def is_derived(result: Result) -> bool:
    """Return whether a result was computed from several experiments, so that it has no samples of its own."""
    return result.kind == "derived"


def headlines(results: Iterable[Result]) -> list[Result]:
    """Return the first result of every experiment, which is its main metric, in the order of ``results``.

    Results belong to the same experiment if their ``id`` is equal. A derived result has an ``id`` of its own, so it is
    returned as well.
    """
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.id, result)
    return list(first.values())


def title_of(probe: str) -> str:
    """Return the title of the probe named ``probe``, or the name if this version of nameplate has no such probe."""
    known = load_probes().get(probe)
    return known.title if known else probe


def title_of_table(table: Table) -> str:
    """Return a table's title, preceded by its probe's title and a colon if it belongs to a probe."""
    return f"{title_of(table.probe)}: {table.title}" if table.probe else table.title


def common_params(results: Sequence[Result]) -> dict[str, Value]:
    """Return the names and values of the parameters that are equal in all experiments, in the order of the first one.

    ``results`` are those of one probe. Derived results count only if there are no others, and results without a value
    only if none has a value, since both may lack parameters.

    Raises:
        ValueError: ``results`` is empty.
    """
    own = [result for result in results if not is_derived(result)] or results
    measured = [result for result in own if result.summary.value is not None] or own
    return shared_params([result.summary.params for result in measured])


def shared_params(several: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """Return the names and values that all of ``several`` have, which is not empty, in the order of the first one."""
    first, *others = several
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def label_of(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    """Return the parameters that ``common`` lacks or has with another value, or ``ALL_COMMON`` if there are none.

    ``params`` are an experiment's parameters and ``common`` the ones that the reader already sees, usually from
    ``common_params``. The text has the form of the command line, such as ``threads=2 size=4KiB``.
    """
    return own_params(params, common) or ALL_COMMON


def own_params(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    """Return the parameters that ``common`` lacks or has with another value, or "" if there are none.

    ``params`` are an experiment's parameters and ``common`` the ones that the reader already sees, usually from
    ``common_params``. The text has the form of the command line, such as ``threads=2 size=4KiB``.
    """
    return parameters({name: value for name, value in params.items() if common.get(name) != value})


def mood_of(result: Result) -> str:
    """Return the class by which a value is coloured: "good", "poor" or "plain".

    An invalid or failed experiment is poor. A metric of which more is better is good from a share of ``GOOD`` of its
    reference value and poor below ``POOR``. Every other result is plain: one without a reference value, or one of which
    less is better.
    """
    row = result.summary
    if row.outcome in ("invalid", "failed"):
        return "poor"
    if row.efficiency is None or result.better == "lower":
        return "plain"
    return "good" if row.efficiency >= GOOD else "poor" if row.efficiency < POOR else "plain"
