"""Find the results of a run by probe, metric and parameters, for the tables of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nameplate.records.machine_record import Machine
from nameplate.records.model import Reference, Result, Value


@dataclass(frozen=True, kw_only=True)
class StudyRun:
    """A summarised run of a study's plan.

    ``series`` are the ids of the experiments that were measured as long series, ``rated`` the reference values given
    with ``--rated``, ``references`` the values of reference tools, and ``notes`` say what the plan left out or
    shortened.
    """

    plan: str
    results: Sequence[Result]
    machine: Machine
    series: frozenset[str] = frozenset()
    rated: Mapping[str, float] = field(default_factory=dict)
    references: Sequence[Reference] = ()
    notes: Sequence[str] = ()

    def find(self, probe: str, metric: str, params: Mapping[str, Value], *, in_series: bool = False) -> Result | None:
        """Return the result of a metric whose parameters include ``params``, or one that says why it is missing.

        If several experiments have these parameters, the first one of the plan counts.
        """
        own = [r for r in self._of(probe, params) if (r.id in self.series) == in_series]
        first = [r for r in own if r.id == own[0].id]
        return next((r for r in first if r.summary.metric == metric or r.summary.value is None), None)

    def derived(self, probe: str, metric: str, params: Mapping[str, Value] | None = None) -> list[Result]:
        """Return the results of a metric that were derived from several experiments, in their order."""
        return [r for r in self._of(probe, params or {}) if r.summary.metric == metric and r.kind == "derived"]

    def highest(self, probe: str, metric: str) -> Result | None:
        """Return the result with the highest value of a rate, of slices and series."""
        own = [r for r in self._of(probe, {}) if r.summary.metric == metric and r.summary.value is not None]
        return max(own, key=lambda r: r.summary.value or 0.0, default=None)

    def left_out(self, probe: str) -> list[str]:
        """Return the plan's notes about experiments of a probe that were left out."""
        return [note for note in self.notes if note.startswith(f"{probe} ") and "left out" in note]

    def _of(self, probe: str, params: Mapping[str, Value]) -> Iterator[Result]:
        for result in self.results:
            row = result.summary
            if row.probe == probe and all(row.params.get(name) == value for name, value in params.items()):
                yield result


def remarks_of(result: Result | None) -> list[str]:
    """Return the conditions in which a result differs from that of a study, or the reason why it has no value."""
    if result is None:
        return []
    if result.summary.value is None:
        return [result.summary.why_no_value]
    return ["more threads than CPUs, so threads share a CPU"] if result.oversubscribed else []
