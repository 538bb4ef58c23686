"""A quantity of a study: its published values, and the values of a run by the study's definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyValue
from nameplate.results.published import Published, published
from nameplate.results.studies._measured import StudyRun, remarks_of
from nameplate.results.studies._units import FACTORS, in_unit

# What identifies a published value within its table: op, pattern, protocol, block_bytes and threads.
Fields = Mapping[str, str | int]
ToParams = Callable[[Fields], Mapping[str, Value]]
FromResult = Callable[[Result, Fields], float | None]


@dataclass(frozen=True, kw_only=True)
class StudyQuantity:
    """One quantity of a study: its published values, and how the run's values are computed by the study's definition.

    ``name`` is the study's word for the quantity, and ``unit`` the unit of its table, a key of ``FACTORS``. Its
    published values are the entries of ``published(measured.plan)`` with this ``table``, ``published_metric`` and
    ``published_probe``; the latter is ``probe`` if it is "". ``params`` turns the fields of a published value into the
    parameters of ``probe`` that do the same work. ``value`` computes the quantity in SI base units from the result of
    ``metric`` and the fields. If nameplate defines a quantity of that name otherwise, ``own_metric`` is nameplate's
    metric of the same probe, and ``own_name`` its name in the table; otherwise both are "". With ``in_series`` the
    run's values are those of long series.

    The methods take ``fields``, which identify a published value within its table. Its keys are "op", "pattern",
    "protocol", "block_bytes" (in bytes) and "threads", as far as they apply. A key that ``params`` needs and ``fields``
    lacks raises KeyError.
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
        """Return the result that the value for ``fields`` is computed from; None if the run has no such experiment.

        If the experiment was not measured, the result has no value and says why (``StudyRun.find``).
        """
        return self.measured.find(self.probe, self.metric, self.params(fields), in_series=self.in_series)

    def here(self, fields: Fields) -> float | None:
        """Return the run's value for ``fields`` by the study's definition, in ``unit``.

        It is None if the run has no such experiment, if the experiment has no value, or if ``value`` returns None.
        """
        found = self.result(fields)
        if found is None or found.summary.value is None:
            return None
        return in_unit(self.value(found, fields), self.unit)

    def printed(self, fields: Fields) -> StudyValue:
        """Return the published value for ``fields`` in ``unit``; None if the study has none.

        If the unit of the value is not known, since the printed one cannot be right, the result is text such as
        "0.00204 ms (?)".
        """
        key = (self.table, self.published_probe or self.probe, self.published_metric, *_key(fields))
        found = _index(self.measured.plan).get(key)
        if found is None:
            return None
        if not found.corrected_unit:
            return f"{found.value:g} {found.unit} (?)"
        return found.value * FACTORS[found.corrected_unit] / FACTORS[self.unit]

    def cell(self, fields: Fields) -> StudyCell:
        """Return the table's cell for ``fields``: the run's value, the published one, nameplate's own, and remarks.

        Numbers are in ``unit``, and None if there is no such value. nameplate's own value is that of ``own_metric``,
        and None without one. The remarks are those of ``remarks_of``.
        """
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
    """Return all work of all repeats ÷ all their time, as the studies compute a throughput, in SI base units.

    It is ``sustained`` of the result's summary, which is None if the result has no value, was derived or was imported.
    The fields are ignored.
    """
    return result.summary.sustained


def block_over_throughput(result: Result, fields: Fields) -> float | None:
    """Return the block size ÷ the throughput of all threads together, in seconds, which the studies call latency.

    ``result`` must be that of a bandwidth in B/s. ``fields["block_bytes"]``, the block size in bytes, is required:
    without it KeyError is raised. The result is None if there is no throughput or it is 0.
    """
    throughput = result.summary.sustained
    return int(fields["block_bytes"]) / throughput if throughput else None


def names_of_blocks(blocks: Sequence[int]) -> list[str]:
    """Return the names of block sizes given in bytes, in the same order, as the studies write them: "8 B", "80 MiB".

    A size is a whole number of the largest of MiB, KiB and B that divides it: 1536 is "1536 B", and 2³⁰ is "1024 MiB".
    """
    units = ((2**20, "MiB"), (2**10, "KiB"))
    return [next((f"{b // f} {name}" for f, name in units if b % f == 0), f"{b} B") for b in blocks]


def names_of_threads(counts: Sequence[int], noun: str = "thread") -> list[str]:
    """Return names such as "1 thread" and "2 threads", in the order of ``counts``.

    ``noun`` is the singular of what is counted; the plural gets an "s".
    """
    return [f"{count} {noun}{'' if count == 1 else 's'}" for count in counts]
