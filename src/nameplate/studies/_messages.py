"""The cost of an MPI message: the lines on both sides of the break at the MTU, and the study's Figures 3 and 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from nameplate.probes.shared.ceilings import overriding
from nameplate.probes.shared.grid import grouped
from nameplate.probes.shared.message_cost import BoundedLine, Cost, bounded_lines, find_costs, link_mtus
from nameplate.records.result import Quantity, Result
from nameplate.records.study_record import StudyAxis, StudyCell, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.studies._measured import StudyRun
from nameplate.studies._mtu_break import MtuBreak, find_mtu_break
from nameplate.studies._units import FACTORS, in_unit
from nameplate.studies.published import published, published_items

if TYPE_CHECKING:
    from nameplate.statistics.piecewise_linear import FittedLine

_PROBE = "mpi_pingpong"
# The published table and the heading for each side of the break.
_SIDES = {"below-1500-bytes": "below the MTU", "from-1500-bytes": "from the MTU on"}
_BANDWIDTH = "1/t_w, Mbit/s"
_COSTS: Mapping[str, tuple[str, str]] = {
    "t_s, µs": ("startup_time", "µs"),
    "t_w, µs/B": ("incremental_cost", "µs/B"),
    _BANDWIDTH: ("bandwidth", "Mbit/s"),
}
_MTU_BYTES = 1500.0
_DEFINITION = "A message's time is half of a round trip: t_s + t_w × size."


def message_tables(measured: StudyRun) -> list[StudyTable]:
    """Return two tables: the cost of a message below and from the MTU on, and the values given in the study's text.

    The cost of a message is its startup time t_s (µs), its time per byte t_w (µs/B), and 1/t_w (Mbit/s). ``measured``
    must be a run of the plan "cse557-now", whose published values are shown; another plan raises KeyError. A value that
    the run lacks is None.
    """
    return [_cost_table(measured), _text_table(measured)]


@dataclass(frozen=True)
class _Sides:
    """The lines of a message's cost by the name of the side of the MTU, the break between them, and a remark.

    ``at`` is the position of the break in bytes, None if one line holds on both sides or none is known.
    """

    lines: Mapping[str, BoundedLine]
    at: Quantity | None
    remark: str


def _sides(measured: StudyRun) -> _Sides:
    """Return the lines on both sides of the break nearest to the MTU, or the line at the MTU for both sides."""
    below, above = _SIDES
    costs = _costs(measured)
    if not costs:
        return _Sides({}, None, "no message was measured")
    mtu_break = find_mtu_break(costs[0], measured.machine)
    if isinstance(mtu_break, MtuBreak):
        near = f"the break nearest to the MTU of {mtu_break.link}, {mtu_break.mtu_bytes:,.0f} B"
        return _Sides({below: mtu_break.below, above: mtu_break.above}, mtu_break.at, near)
    mtu = min(link_mtus(measured.machine).values(), default=0.0) if costs[0].pairs_between_nodes else 0.0
    line = next((piece for piece in bounded_lines(costs[0]) if piece.from_bytes <= mtu <= piece.to_bytes), None)
    if line is None or not mtu:
        return _Sides({}, None, mtu_break.reason)
    return _Sides({below: line, above: line}, None, f"{mtu_break.reason}: one line holds on both sides of the MTU")


def _cost_table(measured: StudyRun) -> StudyTable:
    """Return a table of t_s, t_w and 1/t_w on both sides of the MTU, with 95 % intervals and shares of the link."""
    sides = _sides(measured)
    printed = {(p.table, p.metric): p.value for p in published(measured.plan) if p.probe == _PROBE}
    rows = {
        name: [StudyCell(_value(sides.lines.get(table), metric, unit), printed[table, metric]) for table in _SIDES]
        for name, (metric, unit) in _COSTS.items()
    }
    for name in ("t_s, µs", "t_w, µs/B"):
        metric, unit = _COSTS[name]
        rows[f"{name}, 95 % interval"] = [_interval(sides.lines.get(table), metric, unit) for table in _SIDES]
    at = sides.at.value if sides.at else None
    rows["break point, B"] = [StudyCell(at, printed["all", "breakpoint"], remarks=[sides.remark]), StudyCell()]
    if sides.at:
        rows["break point, B, 95 % interval"] = [StudyCell(_span(sides.at, "B")), StudyCell()]
    link = overriding(measured.rated, "net_stream", "B/s")
    rows["1/t_w, % of the link"] = [
        _of_link(cell, link.value if link else None, measured, index == 1)
        for index, cell in enumerate(rows[_BANDWIDTH])
    ]
    return StudyTable(title="Cost of a message", rows=list(rows), columns=[StudyColumn(n) for n in _SIDES.values()],
                      cells=list(rows.values()), notes=[_DEFINITION])  # fmt: skip


def _value(line: BoundedLine | None, metric: str, unit: str) -> float | None:
    if line is None:
        return None
    if metric == "bandwidth":
        carried = line.bandwidth("B/s")
        return in_unit(carried.value, unit) if carried else None
    return in_unit((line.startup if metric == "startup_time" else line.per_byte).value, unit)


def _interval(line: BoundedLine | None, metric: str, unit: str) -> StudyCell:
    if line is None:
        return StudyCell()
    return StudyCell(_span(line.startup if metric == "startup_time" else line.per_byte, unit))


def _span(fitted: Quantity, unit: str) -> str | None:
    low, high = (in_unit(end, unit) for end in fitted.ci or (None, None))
    return f"{low:.4g} to {high:.4g}" if low is not None and high is not None else None


def _of_link(cell: StudyCell, link: float | None, measured: StudyRun, is_printed: bool) -> StudyCell:
    """Return a cell with 1/t_w in percent of the link's rate; the link of the study carries 100 Mbit/s."""
    theirs = published_items(measured.plan, "text")["link"]
    here = cell.here / (link / FACTORS["Mbit/s"]) * 100 if isinstance(cell.here, float) and link else None
    # The document gives the share of the line from 1,500 B on only.
    printed = cell.published / theirs * 100 if isinstance(cell.published, float) and is_printed else None
    return StudyCell(here, printed, remarks=[] if link else ["give this link's rate with --rated net=100Mbit/s"])


def message_charts(measured: StudyRun) -> list[StudyChart]:
    """Return the study's Figure 3 and Figure 4: the time of a message against its size, in µs and bytes.

    Figure 3 shows one pair of processes with the fitted and the published lines, Figure 4 several pairs at the same
    time. ``measured`` must be a run of the plan "cse557-now"; another plan raises KeyError.
    """
    return [_figure_3(measured), _figure_4(measured)]


def _costs(measured: StudyRun) -> list[Cost]:
    """Return the fitted cost of a message, ordered by the number of pairs that send at the same time."""
    times = [r for r in measured.results if r.summary.probe == _PROBE and r.kind != "derived"]
    return sorted(find_costs(times), key=lambda cost: int(cost.params["pairs"]))


def _text_table(measured: StudyRun) -> StudyTable:
    text = published_items(measured.plan, "text")
    backplane = max(measured.derived(_PROBE, "backplane_bandwidth"), default=None,
                    key=lambda r: int(r.summary.params.get("size", 0)))  # fmt: skip
    carried = backplane.summary.value if backplane else None
    (slower, most), startup = _slower(measured), measured.derived(_PROBE, "startup_time")
    link = overriding(measured.rated, "net_stream", "B/s")
    first = in_unit(startup[0].summary.value, "µs") if startup else None
    rows = {
        "backplane, Gbit/s": StudyCell(
            in_unit(carried, "Gbit/s"), f"{text['backplane of the switch']:g} (as stated; 2.5 in its introduction)",
            remarks=[_saturation(backplane)]),
        "most processors slower by, µs": StudyCell(
            in_unit(slower, "µs"), f"{text['12 processors against 2 or 6']:g} (6 pairs against 1 or 3)",
            remarks=[f"{most} pairs compared with one; the median over the sizes"] if most > 1 else []),
        "Pond: start-up of small messages, µs": StudyCell(first, text["Pond start-up time, small messages"]),
        "link, Mbit/s": StudyCell(in_unit(link.value, "Mbit/s") if link else None, text["link"],
                                  remarks=[] if link else ["give this link's rate with --rated net=100Mbit/s"]),
    }  # fmt: skip
    return StudyTable(title="Messages, in the text", rows=list(rows), columns=[StudyColumn("value")],
                      cells=[[cell] for cell in rows.values()])  # fmt: skip


def _saturation(backplane: Result | None) -> str:
    if backplane is None:
        return "the bandwidth grows up to the largest number of pairs"
    return f"where the bandwidth stops growing with the pairs, of messages of {backplane.summary.params['size']} B"


def _slower(measured: StudyRun) -> tuple[float | None, int]:
    """Return the time in seconds by which the highest number of pairs slows a message, and this number.

    The comparison is with the lowest number of pairs; the time is the median over the sizes. The time is None if no
    size was measured with both numbers. With fewer than two numbers the result is (None, 1).
    """
    by_pairs = {pairs: dict(points) for pairs, points in _times(measured).items()}
    if len(by_pairs) < 2:
        return None, 1
    one, most = by_pairs[min(by_pairs)], by_pairs[max(by_pairs)]
    longer = sorted(most[size] - one[size] for size in one.keys() & most.keys())
    return (longer[len(longer) // 2] if longer else None), max(by_pairs)


def _times(measured: StudyRun) -> dict[int, list[tuple[float, float]]]:
    """Return points (message size in bytes, one-way time in seconds) by the number of pairs that send at once."""
    timed: list[Result] = [
        r for r in measured.results
        if r.summary.probe == _PROBE and r.summary.metric == "latency" and r.summary.value is not None
    ]  # fmt: skip
    groups = grouped(timed, lambda r: str(r.summary.params["pairs"]))
    return {
        int(pairs): sorted((float(r.summary.params["size"]), r.summary.value or 0.0) for r in results_of_pairs)
        for pairs, results_of_pairs in sorted(groups.items(), key=lambda item: int(item[0]))
    }


def _figure_3(measured: StudyRun) -> StudyChart:
    one = _in_microseconds(next(iter(_times(measured).values()), []))
    costs = _costs(measured)
    fitted = costs[0].lines if costs else None
    lines = [StudyLine("time of a message", one, is_joined=False)]
    lines += [_drawn(line, one) for line in (fitted.lines if fitted else ())]
    largest = max((size for size, _ in one), default=1e5)
    lines += _published_lines(measured.plan, largest)
    marks = [(bend.at_bytes, f"{bend.at_bytes:,.0f} B") for bend in (fitted.breaks if fitted else ())]
    return StudyChart("Figure 3: time against message size", StudyAxis("message size (B)"), StudyAxis("time (µs)"),
                      lines, marks)  # fmt: skip


def _drawn(line: FittedLine, points: Sequence[tuple[float, float]]) -> StudyLine:
    """Return a fitted line with its slope, drawn through the median of its points.

    The fitted t_s may be limited to 0, which would draw the line below its points.
    """
    drawn = [(size, time) for size, time in points if line.first_bytes <= size <= line.last_bytes]
    slope = line.per_byte_s * 1e6
    above = median([time - slope * size for size, time in drawn]) if drawn else line.startup_s * 1e6
    ends = [(at, above + slope * at) for at in (line.first_bytes, line.last_bytes)]
    return StudyLine(f"line from {line.first_bytes:,.0f} B", ends)


def _published_lines(plan: str, largest: float) -> list[StudyLine]:
    values = {(p.table, p.metric): p.value for p in published(plan) if p.probe == _PROBE}
    spans = {"below-1500-bytes": (0.0, _MTU_BYTES), "from-1500-bytes": (_MTU_BYTES, max(largest, 2 * _MTU_BYTES))}
    return [
        StudyLine(_SIDES[table], [(at, values[table, "startup_time"] + values[table, "incremental_cost"] * at)
                                  for at in span], is_published=True)
        for table, span in spans.items()
    ]  # fmt: skip


def _figure_4(measured: StudyRun) -> StudyChart:
    lines = [
        StudyLine(f"{pairs} pair{'s' if pairs > 1 else ''}", _in_microseconds(points))
        for pairs, points in _times(measured).items()
    ]
    return StudyChart("Figure 4: several pairs at once", StudyAxis("message size (B)"), StudyAxis("time (µs)"), lines)


def _in_microseconds(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(size, time_s * 1e6) for size, time_s in points]
