"""The cost of an MPI message: one line on each side of the MTU, all segments, and the study's Figures 3 and 4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from nameplate.probes.shared.ceilings import overriding
from nameplate.probes.shared.grid import grouped
from nameplate.probes.shared.message_cost import BoundedLine, Cost, bounded_lines, find_costs, link_mtus
from nameplate.records.result import CEILING_TOLERANCE, Result
from nameplate.records.study_record import StudyAxis, StudyCell, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.studies._cells import computed, study_cell
from nameplate.studies._measured import StudyRun
from nameplate.studies._mtu_break import MtuBreak, find_mtu_break
from nameplate.studies._two_lines import Curve, LeastSquares, fit_line
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed, published, published_items

_PROBE = "mpi_pingpong"
# The published table and the heading for each side of the MTU.
_SIDES = {"below-1500-bytes": "below the MTU", "from-1500-bytes": "from the MTU on"}
_MTU_BYTES = 1500.0
# An intercept that is lower than the time of the smallest message by more than this share is no start-up time.
_STARTUP_WITHIN = 0.1
_GIVE_LINK = "give this link's rate with --rated net=100Mbit/s"
_DEFINITION = (
    "As in the study, a line t_s + t_w × size is fitted by least squares to all messages on each side of the MTU; a "
    "message's time is half of a round trip."
)
_AT_ONCE = (
    "All pairs of nodes, as in the study; half of the nodes exchange with the other half at the same time, while the "
    "segments below are of one pair alone."
)
_SEGMENTS = (
    "The lines that fit all sizes best (mpi_pingpong, one pair). The last one is that of the largest messages, which "
    "the link limits."
)


def message_tables(measured: StudyRun) -> list[StudyTable]:
    """Return three tables: the cost of a message below and from the MTU on, its segments, and values of the text.

    The cost of a message is its startup time t_s (µs), its time per byte t_w (µs/B), and 1/t_w (Mbit/s). ``measured``
    must be a run of the plan "cse557-now", whose published values are shown; another plan raises KeyError. A value that
    the run lacks is None.
    """
    return [_cost_table(measured), _segment_table(measured), _text_table(measured)]


def _cost_table(measured: StudyRun) -> StudyTable:
    """Return a table of t_s, t_w and 1/t_w on both sides of the MTU, with 95 % intervals and shares of the link."""
    lines, reason = _sides(measured)
    printed = {(p.table, p.metric): p.printed for p in published(measured.plan) if p.probe == _PROBE}
    smallest = _smallest(measured)
    startup, per_byte, carried, of_link = [], [], [], []
    for table in _SIDES:
        line = lines.get(table)
        remarks = [reason] if line is None else []
        startup_s, per_byte_s, bandwidth = (line.startup_s, line.per_byte_s, line.bandwidth) if line else (None,) * 3
        startup.append(_startup_cell(startup_s, smallest, printed[table, "startup_time"], remarks))
        printed_cost = printed[table, "incremental_cost"]
        per_byte.append(study_cell(in_unit(per_byte_s, "µs/B"), printed_cost, remarks=remarks))
        carried.append(study_cell(in_unit(bandwidth, "Mbit/s"), printed[table, "bandwidth"], remarks=remarks))
        # The document gives the share of the line from 1,500 B on only.
        theirs = printed[table, "bandwidth"] if table == "from-1500-bytes" else None
        of_link.append(_of_link(measured, bandwidth, theirs))
    fitted = [lines.get(table) for table in _SIDES]
    rows = {
        "t_s, µs": startup,
        "t_s, µs, 95 % interval": [
            study_cell(_span(line.startup_ci, "µs") if line and cell.here is not None else None)
            for line, cell in zip(fitted, startup, strict=True)
        ],
        "t_w, µs/B": per_byte,
        "t_w, µs/B, 95 % interval": [study_cell(_span(line.per_byte_ci, "µs/B") if line else None) for line in fitted],
        "1/t_w, Mbit/s": carried, "1/t_w, % of the link": of_link,
        "break at the MTU": [_break_cell(measured), study_cell(None)],
    }  # fmt: skip
    notes = [_DEFINITION, *([f"The MTU here: {_mtu(measured):,.0f} B."] if lines else [])]
    notes += [_AT_ONCE] if _has_all_pairs(measured) else []
    return StudyTable(
        title="Cost of a message", rows=list(rows), columns=[StudyColumn(n) for n in _SIDES.values()],
        cells=list(rows.values()), notes=notes,
    )  # fmt: skip


def _startup_cell(
    startup_s: float | None, smallest: tuple[float, float] | None, printed: Printed | None, remarks: Sequence[str] = ()
) -> StudyCell:  # fmt: skip
    """Return the cell of a start-up time, without a value if the smallest message takes clearly longer."""
    if startup_s is None or smallest is None or startup_s >= (1 - _STARTUP_WITHIN) * smallest[1]:
        return study_cell(in_unit(startup_s, "µs"), printed, remarks=remarks)
    starts = f"{startup_s * 1e6:.3g} µs" if startup_s else "0 µs or below"
    why = (
        f"the line starts at {starts}, which is no start-up time: a message of {smallest[0]:,.0f} B "
        f"takes {smallest[1] * 1e6:.3g} µs"
    )
    return study_cell(None, printed, remarks=[*remarks, why])


def _of_link(measured: StudyRun, carried: float | None, printed: Printed | None) -> StudyCell:
    """Return a cell with a bandwidth in B/s in percent of the link; the link of the study carries 100 Mbit/s."""
    theirs = published_items(measured.plan, "text")["link"]
    link = _link(measured)
    of_theirs = computed(printed.value / theirs.value * 100) if printed else None
    if carried is None or link is None:
        return study_cell(None, of_theirs, remarks=[] if link else [_GIVE_LINK])
    return study_cell(carried / link * 100, of_theirs, remarks=_above_link(measured, carried, link))


def _above_link(measured: StudyRun, carried: float, link: float) -> list[str]:
    """Return why a bandwidth exceeds that of the link, as a list with one clause; [] if it does not."""
    most = link * (1 + CEILING_TOLERANCE)
    if carried <= most:
        return []
    *smaller, last = _segments(measured)
    final = _bandwidth(last)
    if smaller and final is not None and final <= most:
        return [
            f"more than the link carries: messages of up to {last.from_bytes:,.0f} B are faster than it, as with a "
            f"shaper that lets a burst pass; each further byte takes the time of {final / link * 100:.3g} % of it"
        ]
    return ["more than the link carries: the rate given with --rated is not this link's, or the messages are too small"]


def _break_cell(measured: StudyRun) -> StudyCell:
    """Return a cell that answers whether the cost has a break at the MTU, with the position of each break."""
    cost = next(iter(_costs(measured)), None)
    if cost is None:
        return study_cell(None, "yes, at 1,500 B", remarks=["no message was measured"])
    mtu_break = find_mtu_break(cost, measured.machine)
    if isinstance(mtu_break, MtuBreak):
        low, high = mtu_break.at.ci or (mtu_break.at.value, mtu_break.at.value)
        here = f"yes, at {low:,.0f} to {high:,.0f} B"
        return study_cell(
            here, "yes, at 1,500 B", remarks=[f"the MTU of {mtu_break.link} is {mtu_break.mtu_bytes:,.0f} B"]
        )
    if not cost.pairs_between_nodes or not link_mtus(measured.machine):
        return study_cell(None, "yes, at 1,500 B", remarks=[mtu_break.reason])
    breaks = ", ".join(f"{bend.at_bytes:,.0f} B" for bend in cost.lines.breaks)
    return study_cell(f"no, only at {breaks}" if breaks else "no break", "yes, at 1,500 B", remarks=[mtu_break.reason])


def _segment_table(measured: StudyRun) -> StudyTable:
    """Return a table of the lines that fit all sizes best, with the share of the link that each carries."""
    smallest = _smallest(measured)
    rows: dict[str, list[StudyCell]] = {}
    for line in _segments(measured):
        carried = _bandwidth(line)
        rows[f"{line.from_bytes:,.0f} to {line.to_bytes:,.0f} B"] = [
            _startup_cell(line.startup.value, smallest, None), study_cell(in_unit(line.per_byte.value, "µs/B")),
            study_cell(_span(line.per_byte.ci, "µs/B")), study_cell(in_unit(carried, "Mbit/s")),
            _of_link(measured, carried, None),
        ]  # fmt: skip
    columns = [StudyColumn("t_s", "µs"), StudyColumn("t_w", "µs/B"), StudyColumn("95 % interval", "µs/B"),
               StudyColumn("1/t_w", "Mbit/s"), StudyColumn("of the link", "%")]  # fmt: skip
    return StudyTable(title="Cost of a message, by segment", corner="messages", rows=list(rows), columns=columns,
                      cells=list(rows.values()), has_ratio=False, notes=[_SEGMENTS])  # fmt: skip


def _sides(measured: StudyRun) -> tuple[Mapping[str, LeastSquares], str]:
    """Return the study's lines by the name of the side of the MTU, and the reason why there are none."""
    cost = next(iter(_costs(measured)), None)
    if cost is None:
        return {}, "no message was measured"
    if not cost.pairs_between_nodes:
        return {}, "the messages stay within one node and use no link"
    mtu = _mtu(measured)
    below = [[(size, time) for size, time in curve if size < mtu] for curve in _curves(measured)]
    above = [[(size, time) for size, time in curve if size >= mtu] for curve in _curves(measured)]
    fitted = {side: fit_line(curves) for side, curves in zip(_SIDES, (below, above), strict=True)}
    return {side: line for side, line in fitted.items() if line}, "too few sizes were measured"


def _curves(measured: StudyRun) -> list[Curve]:
    """Return curves of time in seconds against size in bytes: one for each pair of mpi_pairs.

    If the pairs were not measured, there is one for each round of mpi_pingpong with the fewest pairs at once.
    """
    by_pair: dict[int, Curve] = {}
    for result in measured.results:
        if result.summary.probe == "mpi_pairs" and result.pairs:
            for pair, time_s in enumerate(result.pairs):
                if time_s:
                    by_pair.setdefault(pair, []).append((float(result.summary.params["size"]), time_s))
    if by_pair:
        return [sorted(curve) for curve in by_pair.values()]
    by_round: dict[int, Curve] = {}
    for result in next(iter(_timed(measured).values()), []):
        for index, time_s in enumerate(result.round_values):
            by_round.setdefault(index, []).append((float(result.summary.params["size"]), time_s))
    return [sorted(curve) for curve in by_round.values()]


def _smallest(measured: StudyRun) -> tuple[float, float] | None:
    """Return the size in bytes and the time in seconds of the smallest message of one pair."""
    return min(next(iter(_times(measured).values()), []), default=None)


def _segments(measured: StudyRun) -> list[BoundedLine]:
    costs = _costs(measured)
    return bounded_lines(costs[0]) if costs else []


def _bandwidth(line: BoundedLine) -> float | None:
    """Return 1/t_w in B/s; None if the interval of t_w reaches 0."""
    carried = line.bandwidth("B/s")
    return carried.value if carried else None


def _mtu(measured: StudyRun) -> float:
    return min(link_mtus(measured.machine).values(), default=_MTU_BYTES)


def _link(measured: StudyRun) -> float | None:
    """Return the rate of the link in B/s that was given, None without one."""
    link = overriding(measured.rated, "net_stream", "B/s")
    return link.value if link else None


def _span(ends: tuple[float, float] | None, unit: str) -> str | None:
    low, high = (in_unit(end, unit) for end in ends or (None, None))
    return f"{low:.4g} to {high:.4g}" if low is not None and high is not None else None


def message_charts(measured: StudyRun) -> list[StudyChart]:
    """Return the study's Figure 3 and Figure 4: the time of a message against its size, in µs and bytes.

    Figure 3 shows all pairs of nodes, or one pair if they were not measured, with the fitted and the published lines;
    Figure 4 several pairs at the same time. ``measured`` must be a run of the plan "cse557-now"; another plan raises
    KeyError.
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
    slower, most = _slower(measured)
    segments = _segments(measured)
    link = _link(measured)
    pond = text["Pond start-up time, small messages"]
    rows = {
        "backplane, Gbit/s": study_cell(
            in_unit(carried, "Gbit/s"), f"{text['backplane of the switch'].text} (as stated; 2.5 in its introduction)",
            remarks=[_saturation(backplane)]),
        "most processors slower by, µs": study_cell(
            in_unit(slower, "µs"), f"{text['12 processors against 2 or 6'].text} (6 pairs against 1 or 3)",
            remarks=[f"{most} pairs compared with one; the median over the sizes"] if most > 1 else []),
        "Pond: start-up of small messages, µs": _startup_cell(
            segments[0].startup.value if segments else None, _smallest(measured), pond),
        "link, Mbit/s": study_cell(in_unit(link, "Mbit/s"), text["link"], remarks=[] if link else [_GIVE_LINK]),
    }  # fmt: skip
    return StudyTable(title="Messages, in the text", rows=list(rows), columns=[StudyColumn("value")],
                      cells=[[cell] for cell in rows.values()])  # fmt: skip


def _saturation(backplane: Result | None) -> str:
    if backplane is None:
        return "the bandwidth grows up to the largest number of pairs"
    size = backplane.summary.params["size"]
    return f"where the bandwidth stops growing with the pairs, of messages of {size} B, the largest for which it does"


def _slower(measured: StudyRun) -> tuple[float | None, int]:
    """Return the time in seconds by which the highest number of pairs slows a message, and this number.

    The comparison is with the lowest number of pairs; the time is the median over the sizes. The time is None if no
    size was measured with both numbers. With fewer than two numbers the result is (None, 1).
    """
    by_pairs = {pairs: dict(points) for pairs, points in _times(measured).items()}
    if len(by_pairs) < 2:
        return None, 1
    one, most = by_pairs[min(by_pairs)], by_pairs[max(by_pairs)]
    longer = [most[size] - one[size] for size in one.keys() & most.keys()]
    return (median(longer) if longer else None), max(by_pairs)


def _timed(measured: StudyRun) -> dict[int, list[Result]]:
    """Return the results of message times by the number of pairs that send at once, fewest first."""
    timed: list[Result] = [
        r for r in measured.results
        if r.summary.probe == _PROBE and r.summary.metric == "latency" and r.summary.value is not None
    ]  # fmt: skip
    groups = grouped(timed, lambda r: str(r.summary.params["pairs"]))
    return {int(pairs): groups[pairs] for pairs in sorted(groups, key=int)}


def _times(measured: StudyRun) -> dict[int, list[tuple[float, float]]]:
    """Return points (message size in bytes, one-way time in seconds) by the number of pairs that send at once."""
    return {
        pairs: sorted((float(r.summary.params["size"]), r.summary.value or 0.0) for r in results)
        for pairs, results in _timed(measured).items()
    }


def _figure_3(measured: StudyRun) -> StudyChart:
    curves = _curves(measured)
    points = _in_microseconds(sorted(point for curve in curves for point in curve))
    largest = max((size for size, _ in points), default=1e5)
    mtu = _mtu(measured)
    spans = {"below-1500-bytes": (0.0, mtu), "from-1500-bytes": (mtu, largest)}
    lines = [StudyLine(_scatter_name(measured), points, is_joined=False)]
    for side, line in _sides(measured)[0].items():
        ends = [(at, (line.startup_s + line.per_byte_s * at) * 1e6) for at in spans[side]]
        lines.append(StudyLine(f"line {_SIDES[side]}", ends))
    lines += _published_lines(measured.plan, largest)
    return StudyChart(
        "Figure 3: time against message size", StudyAxis("message size (B)", has_zero=True), StudyAxis("time (µs)"),
        lines, [(mtu, f"MTU {mtu:,.0f} B")],
    )  # fmt: skip


def _scatter_name(measured: StudyRun) -> str:
    return "each pair of nodes" if _has_all_pairs(measured) else "one pair, each round"


def _has_all_pairs(measured: StudyRun) -> bool:
    return any(r.summary.probe == "mpi_pairs" and r.pairs for r in measured.results)


def _published_lines(plan: str, largest: float) -> list[StudyLine]:
    values = {(p.table, p.metric): p.value for p in published(plan) if p.probe == _PROBE}
    spans = {"below-1500-bytes": (0.0, _MTU_BYTES), "from-1500-bytes": (_MTU_BYTES, max(largest, 2 * _MTU_BYTES))}
    lines = []
    for table, span in spans.items():
        startup, per_byte = values[table, "startup_time"], values[table, "incremental_cost"]
        ends = [(at, startup + per_byte * at) for at in span]
        lines.append(StudyLine(f"COCOA, {_SIDES[table]}", ends, is_published=True))
    return lines


def _figure_4(measured: StudyRun) -> StudyChart:
    times = _times(measured)
    # Numbers of pairs that were measured at a few sizes only, for the backplane, would be lines across gaps.
    most = max(map(len, times.values()), default=0)
    lines = [
        StudyLine(f"{pairs} pair{'s' if pairs > 1 else ''}", _in_microseconds(points))
        for pairs, points in times.items() if 2 * len(points) >= most
    ]  # fmt: skip
    return StudyChart("Figure 4: several pairs at once", StudyAxis("message size (B)", has_zero=True),
                      StudyAxis("time (µs)"), lines)  # fmt: skip


def _in_microseconds(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(size, time_s * 1e6) for size, time_s in points]
