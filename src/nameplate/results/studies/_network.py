"""The network parts that several studies have."""

from __future__ import annotations

from nameplate.probes.shared.ceilings import overriding
from nameplate.records.model import Result, StudyTable
from nameplate.results.studies._measured import StudyRun
from nameplate.results.studies._quantity import Fields, StudyQuantity, ToParams
from nameplate.results.studies._theory import Reached, peak_table


def one_message_for_each_round_trip(result: Result, _: Fields) -> float | None:
    """Return the throughput of the messages alone; nameplate's bandwidth includes the answers."""
    return result.summary.sustained / 2 if result.summary.sustained else None


def message_throughput(measured: StudyRun, table: str, unit: str, params: ToParams) -> StudyQuantity:
    """Return the throughput of round trips, counting one message for each."""
    return StudyQuantity(
        measured=measured,
        name="throughput",
        table=table,
        published_metric="bandwidth",
        unit=unit,
        probe="net_pingpong",
        metric="bandwidth",
        params=params,
        value=one_message_for_each_round_trip,
        own_metric="bandwidth",
        own_name="both ways",
    )


def link_peak(measured: StudyRun, *, in_series: bool = False) -> list[StudyTable]:
    """Return a table of the share of the link that a bulk transfer reaches; none if the link's speed is unknown."""
    found = measured.find("net_stream", "bandwidth", {"protocol": "tcp"}, in_series=in_series)
    if found is None or found.summary.sustained is None:
        return []
    known = overriding(measured.rated, "net_stream", "B/s") or found.rated
    if known.value is None:
        return []
    reached = [Reached("bulk transfer over TCP", (found.summary.sustained, found.id), None)]
    return [peak_table("Theoretical network bandwidth", "Gbit/s", known, None, reached)]
