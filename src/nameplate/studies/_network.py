"""Network quantities and tables that several studies have."""

from __future__ import annotations

from nameplate.probes.shared.ceilings import overriding
from nameplate.records.result import Result
from nameplate.records.study_record import StudyTable
from nameplate.studies._measured import StudyRun
from nameplate.studies._quantity import Fields, StudyQuantity, ToParams
from nameplate.studies._theory import Reached, peak_table


def one_message_per_round_trip(result: Result, _: Fields) -> float | None:
    """Return the throughput in B/s that counts only one message of each round trip.

    ``result`` must be a result of ``net_pingpong``'s bandwidth, which also counts the answer and is therefore halved.
    The second argument, the fields of the published value, is ignored. The return value is None if the bandwidth was
    not measured or is 0.
    """
    return result.summary.sustained / 2 if result.summary.sustained else None


def message_throughput(measured: StudyRun, table: str, unit: str, params: ToParams) -> StudyQuantity:
    """Return the throughput of round trips, with one message counted for each, as a quantity of a study.

    - ``measured``: the run that is compared with the study
    - ``table``: the name of the table in the CSV file of published values
    - ``unit``: a key of ``FACTORS`` such as "MiB/s"
    - ``params``: returns the parameters of ``net_pingpong`` for the fields of a published value (see ``round_trips``)

    A cell also has nameplate's bandwidth, which counts messages and answers, under the name "both ways".
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
        value=one_message_per_round_trip,
        alternative_metric="bandwidth",
        alternative_name="both ways",
    )


def link_peak(measured: StudyRun, *, in_series: bool = False) -> list[StudyTable]:
    """Return a table of the share of the link's speed that a bulk transfer over TCP reaches, as a list with one table.

    The transfer is the run's first experiment of ``net_stream`` with ``protocol=tcp``; with ``in_series`` only long
    series are searched, otherwise only the other experiments. The link's speed is the value given with ``--rated`` for
    ``net_stream`` or ``net``, otherwise the reference value of the result. The list is empty if the transfer was not
    measured or the speed is not known.
    """
    result = measured.find("net_stream", "bandwidth", {"protocol": "tcp"}, in_series=in_series)
    if result is None or result.summary.sustained is None:
        return []
    known = overriding(measured.rated, "net_stream", "B/s") or result.rated
    if known.value is None:
        return []
    reached = [Reached("bulk transfer over TCP", (result.summary.sustained, result.id), None)]
    return [peak_table("Theoretical network bandwidth", "Gbit/s", known, None, reached)]
