"""A quantity of a study: its published values, and the values of a run by the study's definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nameplate.records.model import Result, StudyCell, StudyValue, Value
from nameplate.results.published import Published, published
from nameplate.results.studies._measured import StudyRun, remarks_of
from nameplate.results.studies._units import FACTORS, in_unit

# What identifies a published value within its table: op, pattern, protocol, block_bytes and threads.
Fields = Mapping[str, str | int]
ToParams = Callable[[Fields], Mapping[str, Value]]
FromResult = Callable[[Result, Fields], float | None]


@dataclass(frozen=True, kw_only=True)
class StudyQuantity:
    """One quantity of a study, in the unit that its table shows.

    ``name`` is what the study calls it. ``table`` and ``published_metric`` say where its published values are.
    ``params`` turns a published value's fields into the parameters of ``probe`` that do the same work; ``value``
    computes the study's quantity in SI base units from the result of ``metric``. Where nameplate defines a quantity of
    that name otherwise, ``own_metric`` is its metric and ``own_name`` what the table calls it.
    """

    measured: StudyRun
    name: str
    table: str
    published_metric: str
    unit: str
    probe: str
    metric: str
    params: ToParams
    value: FromResult
    published_probe: str = ""
    own_metric: str = ""
    own_name: str = ""
    in_series: bool = False

    def result(self, fields: Fields) -> Result | None:
        """Return the result that the run's value is computed from."""
        return self.measured.find(self.probe, self.metric, self.params(fields), in_series=self.in_series)

    def here(self, fields: Fields) -> float | None:
        """Return the run's value by the study's definition; None where it was not measured."""
        found = self.result(fields)
        if found is None or found.summary.value is None:
            return None
        return in_unit(self.value(found, fields), self.unit)

    def printed(self, fields: Fields) -> StudyValue:
        """Return the published value; as words where its unit cannot be derived."""
        key = (self.table, self.published_probe or self.probe, self.published_metric, *_key(fields))
        found = _index(self.measured.plan).get(key)
        if found is None:
            return None
        if not found.corrected_unit:
            return f"{found.value:g} {found.unit} (?)"
        return found.value * FACTORS[found.corrected_unit] / FACTORS[self.unit]

    def cell(self, fields: Fields) -> StudyCell:
        """Return the entry of a table."""
        return StudyCell(self.here(fields), self.printed(fields), self._own(fields), remarks_of(self.result(fields)))

    def _own(self, fields: Fields) -> float | None:
        if not self.own_metric:
            return None
        found = self.measured.find(self.probe, self.own_metric, self.params(fields), in_series=self.in_series)
        return in_unit(found.summary.sustained, self.unit) if found else None


def _key(fields: Fields) -> tuple[str | int | None, ...]:
    words = [fields.get(name, "") for name in ("op", "pattern", "protocol")]
    return (*words, fields.get("block_bytes"), fields.get("threads"))


@cache
def _index(plan: str) -> Mapping[tuple[str | int | None, ...], Published]:
    return {
        (p.table, p.probe, p.metric, p.op, p.pattern, p.protocol, p.block_bytes, p.threads): p for p in published(plan)
    }


def work_over_time(result: Result, _: Fields) -> float | None:
    """Return all work of all repeats over all their time, as the studies compute a throughput."""
    return result.summary.sustained


def block_over_throughput(result: Result, fields: Fields) -> float | None:
    """Return the block ÷ the throughput of all threads together, which the studies call latency."""
    throughput = result.summary.sustained
    return int(fields["block_bytes"]) / throughput if throughput else None


def names_of_blocks(blocks: Sequence[int]) -> list[str]:
    """Return the blocks as the studies write them: ``8 B``, ``8 KiB``, ``80 MiB``."""
    units = ((2**20, "MiB"), (2**10, "KiB"))
    return [next((f"{b // f} {name}" for f, name in units if b % f == 0), f"{b} B") for b in blocks]


def names_of_threads(counts: Sequence[int], noun: str = "thread") -> list[str]:
    """Return ``1 thread``, ``2 threads``."""
    return [f"{count} {noun}{'' if count == 1 else 's'}" for count in counts]
