"""iperf3's table of a TCP transfer, one row for each second."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.studies._cells import study_cell
from nameplate.studies._measured import StudyRun, series_values
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed, published_items

_COLUMNS = [StudyColumn("transfer", "GiB"), StudyColumn("bandwidth", "Gbit/s"), StudyColumn("retransmits"),
            StudyColumn("window", "MiB")]  # fmt: skip
# "Retr 0, Cwnd 2.00 MBytes" in each row of the document, and 48.9 GBytes in its row of the whole transfer.
_RETRANSMITS, _WINDOW_MIB, _TRANSFER_GIB = Printed.of("0"), Printed.of("2.00"), Printed.of("48.9")


def per_second_table(measured: StudyRun) -> StudyTable:
    """Return iperf3's table of a TCP transfer: a row for each second, the whole transfer, and the server's row of it.

    The columns are the transfer (GiB), the bandwidth (Gbit/s), the retransmits and the congestion window (MiB). There
    are at least ten rows of seconds. The run's values are from its long series of ``net_stream`` over TCP; they are
    None if the run has no such series. ``measured`` must be a run of the plan "cs553-kvm".
    """
    by_quantity = {
        name: measured.find("net_stream", name, {"protocol": "tcp"}, in_series=True)
        for name in ("bandwidth", "retransmits", "congestion_window")
    }
    client = published_items(measured.plan, "iperf3-client")
    server = published_items(measured.plan, "iperf3-server")
    rates = series_values(by_quantity["bandwidth"])
    seconds = max(10, len(rates))
    total_rate = in_unit(sum(rates) / len(rates) if rates else None, "Gbit/s")
    rows = {f"{second}–{second + 1} s": _row(second, by_quantity, client) for second in range(seconds)}
    rows["in all"] = [
        study_cell(in_unit(sum(rates) if rates else None, "GiB"), _TRANSFER_GIB, by_quantity["bandwidth"]),
        study_cell(total_rate, client["0–10 s"], by_quantity["bandwidth"]), study_cell(None), study_cell(None),
    ]  # fmt: skip
    # The receiver of net_stream counts what arrived, so that its value is the server's, too.
    rows["in all, server"] = [
        study_cell(None), study_cell(total_rate, server["0–10.04 s"]), study_cell(None), study_cell(None)
    ]  # fmt: skip
    return StudyTable(
        title="iperf3: TCP, one row per second", corner="second", rows=list(rows), columns=_COLUMNS,
        cells=list(rows.values()), has_ratio=False,
        notes=["Here: net_stream over TCP on one connection, as a series, counted by the receiver; retransmits and "
               "window by TCP_INFO at the end of each second. iperf3's GBytes are GiB. The document's server printed "
               "10.04 s."],
    )  # fmt: skip


def _row(second: int, results: Mapping[str, Result | None], printed: Mapping[str, Printed]) -> list[StudyCell]:
    rate, resent, window = (
        values[second] if second < len(values := series_values(results[name])) else None
        for name in ("bandwidth", "retransmits", "congestion_window")
    )
    name = f"second {second}–{second + 1}"
    is_printed = f"{name} transfer" in printed
    return [
        study_cell(in_unit(rate, "GiB"), printed.get(f"{name} transfer"), results["bandwidth"]),
        study_cell(in_unit(rate, "Gbit/s"), printed.get(f"{name} bandwidth"), results["bandwidth"]),
        study_cell(resent, _RETRANSMITS if is_printed else None, results["retransmits"]),
        study_cell(in_unit(window, "MiB"), _WINDOW_MIB if is_printed else None, results["congestion_window"]),
    ]
