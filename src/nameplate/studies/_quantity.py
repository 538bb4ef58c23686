"""A quantity of a study: its published values, and the values of a run by the study's definition."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell
from nameplate.studies._cells import computed, study_cell
from nameplate.studies._measured import StudyRun
from nameplate.studies._units import FACTORS, in_unit
from nameplate.studies.published import Printed, Published, published

# The fields that identify a published value in its table, by name: op, pattern, protocol, block_bytes and threads.
Fields = Mapping[str, str | int]
ToParams = Callable[[Fields], Mapping[str, Value]]
FromResult = Callable[[Result, Fields], float | None]


@dataclass(frozen=True, kw_only=True)
class StudyQuantity:
    """A quantity of a study: its published values, and the run's values, computed by the study's definition.

    - ``measured``: the run; ``name``: the study's name for the quantity; ``unit``: the unit of all values, a key of
      ``FACTORS``
    - ``table``, ``published_metric``, ``published_probe``: identify the quantity in ``published(measured.plan)``; if
      ``published_probe`` is "", it is ``probe``
    - ``probe``, ``metric``: the probe and the metric from whose results the run's values are computed
    - ``params``: returns, for the fields of a published value, the parameters of ``probe`` that do the same work
    - ``value``: returns the run's value in SI base units, for a result of ``metric`` and the fields
    - ``alternative_metric``: nameplate's own metric of this name, if its definition differs from the study's, and
      ``alternative_name``: its name in the table; otherwise both are ""
    - ``alternative_params``: returns the parameters of the work that nameplate's own value is of, None if it is that of
      ``params``; its value is computed as that of the study. A quantity has this or ``alternative_metric``
    - ``in_series``: use only results of long series, instead of only the other results

    The argument ``fields`` of the methods identifies a published value of the quantity. Its possible keys are "op",
    "pattern", "protocol", "block_bytes" (in bytes) and "threads". A key that ``params`` requires and ``fields`` lacks
    raises KeyError.
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
    alternative_metric: str = ""
    alternative_name: str = ""
    alternative_params: Callable[[Fields], Mapping[str, Value] | None] | None = None
    in_series: bool = False

    def result(self, fields: Fields) -> Result | None:
        """Return the result that gives the run's value for ``fields``; None if the run has no such experiment.

        If the experiment was not measured, the result has no value and gives the reason (``StudyRun.find``).
        """
        return self.measured.find(self.probe, self.metric, self.params(fields), in_series=self.in_series)

    def here(self, fields: Fields) -> float | None:
        """Return the run's value for ``fields`` in ``unit``, by the study's definition.

        It is None if the run has no such experiment, if the experiment has no value, or if ``value`` returns None.
        """
        return self._value(self.result(fields), fields)

    def _value(self, result: Result | None, fields: Fields) -> float | None:
        if result is None or result.summary.value is None:
            return None
        return in_unit(self.value(result, fields), self.unit)

    def printed(self, fields: Fields) -> Printed | str | None:
        """Return the published value for ``fields`` in ``unit``, with its digits; None if the study has none.

        If the printed unit must be wrong and the correct unit is not known, the result is text such as "0.00204 ms
        (?)".
        """
        kinds = [fields.get(name, "") for name in ("op", "pattern", "protocol")]
        numbers = [fields.get(name) for name in ("block_bytes", "threads")]
        key = (self.table, self.published_probe or self.probe, self.published_metric, *kinds, *numbers)
        cell = _index(self.measured.plan).get(key)
        if cell is None:
            return None
        if not cell.corrected_unit:
            return f"{cell.text} {cell.unit} (?)"
        factor = FACTORS[cell.corrected_unit] / FACTORS[self.unit]
        power = round(math.log10(factor))
        if math.isclose(factor, 10.0**power):
            return cell.printed.scaled(power)
        return computed(cell.value * factor)

    def cell(self, fields: Fields) -> StudyCell:
        """Return the table cell for ``fields``: the run's value, the published value, nameplate's own value, remarks.

        Values are in ``unit``; a value that is missing is None. nameplate's own value is the run's
        ``alternative_metric``, None if the quantity has none. The remarks are the result of ``remarks_of`` for the
        run's result.
        """
        return study_cell(
            self.here(fields), self.printed(fields), self.result(fields), alternative=self._alternative(fields)
        )

    def _alternative(self, fields: Fields) -> float | None:
        if self.alternative_params:
            params = self.alternative_params(fields)
            result = params and self.measured.find(self.probe, self.metric, params, in_series=self.in_series)
            return self._value(result or None, fields)
        if not self.alternative_metric:
            return None
        result = self.measured.find(self.probe, self.alternative_metric, self.params(fields), in_series=self.in_series)
        return in_unit(result.summary.sustained, self.unit) if result else None


@cache
def _index(plan: str) -> Mapping[tuple[str | int | None, ...], Published]:
    return {
        (p.table, p.probe, p.metric, p.op, p.pattern, p.protocol, p.block_bytes, p.threads): p for p in published(plan)
    }


def work_over_time(result: Result, _: Fields) -> float | None:
    """Return all work of a result's samples ÷ all their time in SI base units, as the studies compute a throughput.

    The second argument, the fields of the published value, is ignored. The return value is None if the result has no
    value, was derived from other results, or was imported from another tool.
    """
    return result.summary.sustained


def block_over_throughput(result: Result, fields: Fields) -> float | None:
    """Return the block size ÷ the throughput of all threads together in seconds, which the studies call latency.

    ``result`` must be a result of a bandwidth in B/s. ``fields["block_bytes"]`` is the block size in bytes (KeyError if
    it is missing). The return value is None if there is no throughput or it is 0.
    """
    throughput = result.summary.sustained
    return int(fields["block_bytes"]) / throughput if throughput else None


def names_of_blocks(blocks: Sequence[int]) -> list[str]:
    """Return the names of block sizes in bytes as the studies write them, in the same order: "8 B", "80 MiB".

    A size is a whole number of the largest of MiB, KiB and B that divides it: 1536 is "1536 B", and 2³⁰ is "1024 MiB".
    """
    units = ((2**20, "MiB"), (2**10, "KiB"))
    return [next((f"{b // f} {name}" for f, name in units if b % f == 0), f"{b} B") for b in blocks]


def names_of_threads(counts: Sequence[int], noun: str = "thread") -> list[str]:
    """Return names such as "1 thread" and "2 threads", in the order of ``counts``.

    ``noun`` replaces "thread"; it is a singular, to which "s" is added for any count but 1.
    """
    return [f"{count} {noun}{'' if count == 1 else 's'}" for count in counts]
