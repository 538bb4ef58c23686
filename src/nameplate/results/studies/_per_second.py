"""iperf3's table of a TCP transfer, one row for each second."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.results.studies._measured import StudyRun

_COLUMNS = [StudyColumn("transfer", "GB"), StudyColumn("bandwidth", "Gbit/s"), StudyColumn("retransmits"),
            StudyColumn("window", "MiB")]  # fmt: skip
# "Retr 0, Cwnd 2.00 MBytes" in each row of the document.
_PUBLISHED_TRANSFER_GIB = 48.9
_PUBLISHED_RETRANSMITS, _PUBLISHED_WINDOW_MIB = 0.0, 2.0


def per_second_table(measured: StudyRun, printed: Mapping[str, float]) -> StudyTable:
    """Return iperf3's table of a TCP series: transfer, bandwidth, retransmits and congestion window of each second.

    ``printed`` has the study's values, as in ``published_items("cs553-kvm", "iperf3-client")``: "second 0–1 transfer"
    in GBytes of 2³⁰ bytes and "second 0–1 bandwidth" in Gbit/s for each second, and "0–10 s", the bandwidth of all.
    Only the last is required; without it KeyError is raised. There are at least ten rows for seconds, and one for all
    of them. The values here are those of the run's long series of ``net_stream`` over TCP, and None if it has none.
    """
    found = {
        name: measured.find("net_stream", name, {"protocol": "tcp"}, in_series=True)
        for name in ("bandwidth", "retransmits", "congestion_window")
    }
    seconds = max(10, len(_values(found["bandwidth"])))
    rows = [f"{second}–{second + 1} s" for second in range(seconds)]
    cells = [_row(second, found, printed) for second in range(seconds)]
    return StudyTable(
        title="iperf3: TCP, one row per second", corner="second", rows=[*rows, "in all"], columns=_COLUMNS,
        cells=[*cells, _whole(found["bandwidth"], printed)], has_ratio=False,
        notes=["Here: net_stream over TCP on one connection, as a series; retransmits and window by TCP_INFO at the "
               "end of each second. The document's GBytes are 2³⁰ bytes, shown here as GB of 10⁹ bytes."],
    )  # fmt: skip


def _row(second: int, found: Mapping[str, Result | None], printed: Mapping[str, float]) -> list[StudyCell]:
    rate, resent, window = (
        values[second] if second < len(values := _values(found[name])) else None
        for name in ("bandwidth", "retransmits", "congestion_window")
    )
    name = f"second {second}–{second + 1}"
    transfer = printed.get(f"{name} transfer")
    is_printed = transfer is not None
    return [
        StudyCell(_over(rate, 1e9), transfer * 2**30 / 1e9 if transfer is not None else None),
        StudyCell(_over(rate, 1e9 / 8), printed.get(f"{name} bandwidth")),
        StudyCell(resent, _PUBLISHED_RETRANSMITS if is_printed else None),
        StudyCell(_over(window, 2.0**20), _PUBLISHED_WINDOW_MIB if is_printed else None),
    ]


def _whole(found: Result | None, printed: Mapping[str, float]) -> list[StudyCell]:
    rates = _values(found)
    carried = sum(rates) / len(rates) if rates else None
    return [
        StudyCell(_over(sum(rates), 1e9) if rates else None, _PUBLISHED_TRANSFER_GIB * 2**30 / 1e9),
        StudyCell(_over(carried, 1e9 / 8), printed["0–10 s"], remarks=["the document's server prints 41.9"]),
        StudyCell(), StudyCell(),
    ]  # fmt: skip


def _values(found: Result | None) -> list[float]:
    return found.series.value if found and found.summary.value is not None else []


def _over(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit
