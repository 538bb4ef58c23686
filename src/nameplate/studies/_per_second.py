"""iperf3's table of a TCP transfer, one row for each second."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.studies._measured import StudyRun, series_values
from nameplate.studies._units import in_unit

_COLUMNS = [StudyColumn("transfer", "GB"), StudyColumn("bandwidth", "Gbit/s"), StudyColumn("retransmits"),
            StudyColumn("window", "MiB")]  # fmt: skip
# "Retr 0, Cwnd 2.00 MBytes" in each row of the document.
_PUBLISHED_TRANSFER_GIB = 48.9
_PUBLISHED_RETRANSMITS, _PUBLISHED_WINDOW_MIB = 0.0, 2.0


def per_second_table(measured: StudyRun, printed: Mapping[str, float]) -> StudyTable:
    """Return iperf3's table of a TCP transfer: one row per second, and one row for the whole transfer.

    The columns are the transfer (GB), the bandwidth (Gbit/s), the retransmits and the congestion window (MiB).
    ``printed`` has the study's values, as in ``published_items("cs553-kvm", "iperf3-client")``: "second 0–1 transfer"
    in units of 2³⁰ bytes and "second 0–1 bandwidth" in Gbit/s for each second, and "0–10 s", the bandwidth of the whole
    transfer in Gbit/s, which is required (KeyError if it is missing). There are at least ten rows of seconds. The run's
    values are from its long series of ``net_stream`` over TCP; they are None if the run has no such series.
    """
    by_quantity = {
        name: measured.find("net_stream", name, {"protocol": "tcp"}, in_series=True)
        for name in ("bandwidth", "retransmits", "congestion_window")
    }
    seconds = max(10, len(series_values(by_quantity["bandwidth"])))
    rows = [f"{second}–{second + 1} s" for second in range(seconds)]
    cells = [_row(second, by_quantity, printed) for second in range(seconds)]
    return StudyTable(
        title="iperf3: TCP, one row per second", corner="second", rows=[*rows, "in all"], columns=_COLUMNS,
        cells=[*cells, _cells_of_run(by_quantity["bandwidth"], printed)], has_ratio=False,
        notes=["Here: net_stream over TCP on one connection, as a series; retransmits and window by TCP_INFO at the "
               "end of each second. The document's GBytes are 2³⁰ bytes, shown here as GB of 10⁹ bytes."],
    )  # fmt: skip


def _row(second: int, results: Mapping[str, Result | None], printed: Mapping[str, float]) -> list[StudyCell]:
    rate, resent, window = (
        values[second] if second < len(values := series_values(results[name])) else None
        for name in ("bandwidth", "retransmits", "congestion_window")
    )
    name = f"second {second}–{second + 1}"
    transfer = printed.get(f"{name} transfer")
    is_printed = transfer is not None
    return [
        StudyCell(in_unit(rate, "GB"), transfer * 2**30 / 1e9 if transfer is not None else None),
        StudyCell(in_unit(rate, "Gbit/s"), printed.get(f"{name} bandwidth")),
        StudyCell(resent, _PUBLISHED_RETRANSMITS if is_printed else None),
        StudyCell(in_unit(window, "MiB"), _PUBLISHED_WINDOW_MIB if is_printed else None),
    ]


def _cells_of_run(result: Result | None, printed: Mapping[str, float]) -> list[StudyCell]:
    rates = series_values(result)
    carried = sum(rates) / len(rates) if rates else None
    return [
        StudyCell(in_unit(sum(rates), "GB") if rates else None, _PUBLISHED_TRANSFER_GIB * 2**30 / 1e9),
        StudyCell(in_unit(carried, "Gbit/s"), printed["0–10 s"], remarks=["the document's server prints 41.9"]),
        StudyCell(), StudyCell(),
    ]  # fmt: skip
