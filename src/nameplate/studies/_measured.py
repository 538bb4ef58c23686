"""Find the results of a run by probe, metric and parameters, for the tables of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.run_record import Reference


@dataclass(frozen=True, kw_only=True)
class StudyRun:
    """A summarised run of a plan that reproduces a study.

    - ``plan``: the name of the plan; ``results``: the results of ``summarise``, in the same order
    - ``series``: the ids of the experiments that were measured as long series
    - ``rated``: the values given with ``--rated`` in SI base units, by keys such as "memory B/s" (``parse_rated``)
    - ``references``: the values of reference tools in this run
    - ``notes``: the notes of the plan, which say what was left out or shortened
    - ``rounds``: the planned number of rounds, None if the plan has no fixed number
    - ``priority``: the scheduling priority of the processes, "normal" or "high"
    """

    plan: str
    results: Sequence[Result]
    machine: Machine
    series: frozenset[str] = frozenset()
    rated: Mapping[str, float] = field(default_factory=dict)
    references: Sequence[Reference] = ()
    notes: Sequence[str] = ()
    rounds: int | None = None
    priority: str = "normal"

    def find(self, probe: str, metric: str, params: Mapping[str, Value], *, in_series: bool = False) -> Result | None:
        """Return the result of a metric of a probe, for the first experiment whose parameters include ``params``.

        The values of ``params`` are as in the records, such as sizes in bytes; {} matches every experiment. With
        ``in_series`` only long series are searched, otherwise only the other experiments. If the experiment has no
        value, the returned result has the reason. The return value is None if no experiment matches, or if the
        experiment has values but not of ``metric``.
        """
        candidates = [r for r in self._of(probe, params) if (r.id in self.series) == in_series]
        first = [r for r in candidates if r.id == candidates[0].id]
        return next((r for r in first if r.summary.metric == metric or r.summary.value is None), None)

    def derived(self, probe: str, metric: str, params: Mapping[str, Value] | None = None) -> list[Result]:
        """Return the results of a metric that a probe derived from several experiments, in the order of the run.

        Only results whose parameters include ``params`` are returned; None and {} stand for all results. The list may
        be empty.
        """
        return [r for r in self._of(probe, params or {}) if r.summary.metric == metric and r.kind == "derived"]

    def left_out(self, probe: str) -> list[str]:
        """Return the plan's notes on experiments of a probe that were left out; [] if there are none.

        Such a note begins with the name of the probe and contains "left out".
        """
        return [note for note in self.notes if note.startswith(f"{probe} ") and "left out" in note]

    def _of(self, probe: str, params: Mapping[str, Value]) -> Iterator[Result]:
        for result in self.results:
            row = result.summary
            if row.probe == probe and all(row.params.get(name) == value for name, value in params.items()):
                yield result


def remarks_of(result: Result | None) -> list[str]:
    """Return the remarks on a result for a table cell: why it has no value, or the conditions of its value.

    The conditions are that no network card was used, and that threads share a CPU. The list is empty if none applies,
    or if ``result`` is None.
    """
    if result is None:
        return []
    if result.summary.value is None:
        return [result.summary.why_no_value]
    loopback = ["over the loopback of this machine, without a network card"] * is_over_loopback(result)
    return [*loopback, *["more threads than CPUs, so threads share a CPU"] * result.oversubscribed]


def is_over_loopback(result: Result | None) -> bool:
    """Return whether a result was measured between two processes of one machine; False if ``result`` is None."""
    return result is not None and result.summary.probe.startswith("net_") and result.facts.get("is_local") == 1


def series_values(result: Result | None) -> list[float]:
    """Return the values of a result's samples in SI base units, in order; [] if it is None or has no value."""
    return result.series.value if result and result.summary.value is not None else []
