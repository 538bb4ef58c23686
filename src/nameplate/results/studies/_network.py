"""The network parts that several studies have."""

from __future__ import annotations

from nameplate.probes.shared.ceilings import overriding
from nameplate.records.result import Result
from nameplate.records.study_record import StudyTable
from nameplate.results.studies._measured import StudyRun
from nameplate.results.studies._quantity import Fields, StudyQuantity, ToParams
from nameplate.results.studies._theory import Reached, peak_table


def one_message_for_each_round_trip(result: Result, _: Fields) -> float | None:
    """Return the throughput in B/s that counts one message for each round trip.

    ``result`` is a result of ``net_pingpong``'s bandwidth, which counts the answer too and is therefore halved. The
    fields are ignored. The return value is None if the bandwidth was not measured or is 0.
    """
    return result.summary.sustained / 2 if result.summary.sustained else None


def message_throughput(measured: StudyRun, table: str, unit: str, params: ToParams) -> StudyQuantity:
    """Return the throughput of round trips as a quantity that counts one message for each of them.

    ``table`` is the study's table in its CSV file, ``unit`` a key of ``FACTORS`` such as "MiB/s", and ``params`` turns
    the fields of a published value into parameters of ``net_pingpong``, as ``round_trips`` does. The cells also have
    nameplate's bandwidth, which counts messages and answers.
    """
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
    """Return a list of one table: the share of the link's speed that a bulk transfer over TCP reaches.

    The transfer is the first experiment of ``net_stream`` with ``protocol=tcp``: with ``in_series`` among the long
    series, otherwise among the others. The link's speed is the value given with ``--rated net_stream=`` or else
    ``net=``, or else the reference value of the result. The list is empty if the transfer was not measured or the speed
    is unknown.
    """
    found = measured.find("net_stream", "bandwidth", {"protocol": "tcp"}, in_series=in_series)
    if found is None or found.summary.sustained is None:
        return []
    known = overriding(measured.rated, "net_stream", "B/s") or found.rated
    if known.value is None:
        return []
    reached = [Reached("bulk transfer over TCP", (found.summary.sustained, found.id), None)]
    return [peak_table("Theoretical network bandwidth", "Gbit/s", known, None, reached)]
