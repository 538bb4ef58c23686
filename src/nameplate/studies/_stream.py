"""STREAM in the tables of a study: the passes that STREAM counts, next to the same loops in plain C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyColumn
from nameplate.studies._cells import study_cell
from nameplate.studies._measured import StudyRun, remarks_of
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed

STREAM_COLUMNS = [
    StudyColumn("best rate", "MB/s"), *(StudyColumn(name, "ms") for name in ("avg time", "min time", "max time")),
]  # fmt: skip
IN_PLAIN_C = "plain C here"
STREAM_NOTE = (
    "memory_stream's passes 2 to 10 of the run over arrays of 10⁷ elements of 8 B, as STREAM counts them. In plain C: "
    "plain-stream, which script/bootstrap bench builds; STREAM itself, where it is installed, is in the table of "
    "reference tools."
)


def stream_best(measured: StudyRun, ops: Iterable[str]) -> tuple[float, str] | None:
    """Return the highest rate of the loops ``ops`` in B/s as STREAM counts it, and the id of its experiment.

    The return value is None if none was measured.
    """
    results = [_result(measured, op) for op in ops]
    return max(((max(passes), r.id) for r in results if r and (passes := _counted_passes(r))), default=None)


def stream_row(measured: StudyRun, op: str, printed: Printed | None) -> list[StudyCell]:
    """Return the best rate and the average, minimum and maximum time of the loop ``op``, as in ``STREAM_COLUMNS``.

    ``printed`` is the study's best rate. The alternative of each cell is the value of plain-stream in this run. A value
    that was not measured is None.
    """
    result = _result(measured, op)
    rates = _plain_rates(measured, op)
    passes = _counted_passes(result) if result else []
    if result is None or not passes:
        return [study_cell(None, printed, result), *(study_cell(None) for _ in STREAM_COLUMNS[1:])]
    # Ten passes are not all rounds, whose number and seconds would say otherwise.
    moved, remarks = result.facts["pass_bytes"], remarks_of(result)
    times = [moved / rate * 1e3 for rate in passes]
    times_in_c = [moved / rate * 1e3 if rate else None for rate in rates]
    return [
        study_cell(in_unit(max(passes), "MB/s"), printed, alternative=in_unit(rates[1], "MB/s"), remarks=remarks),
        study_cell(sum(times) / len(times), alternative=times_in_c[0]),
        study_cell(min(times), alternative=times_in_c[1]),
        study_cell(max(times), alternative=times_in_c[2]),
    ]


def _result(measured: StudyRun, op: str) -> Result | None:
    return measured.find("memory_stream", "bandwidth", {"op": op, "threads": 1})


def _counted_passes(result: Result) -> Sequence[float]:
    """Return the rates of the passes that STREAM counts: nine of ten, without the first. A single pass counts."""
    return result.series.value[1:10] or result.series.value


def _plain_rates(measured: StudyRun, op: str) -> list[float | None]:
    """Return plain-stream's rates of the average, the fastest and the slowest pass in B/s."""
    values = {r.work: r.value for r in measured.references if r.tool == "plain_stream"}
    works = [f"{op}, {which} pass, " for which in ("average", "fastest", "slowest")]
    return [next((value for name, value in values.items() if name.startswith(work)), None) for work in works]
