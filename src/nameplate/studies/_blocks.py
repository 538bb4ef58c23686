"""Throughput and latency of reading, writing and copying by blocks, as several studies define them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nameplate.records.plan_record import Value
from nameplate.studies._measured import StudyRun
from nameplate.studies._parameters import blocks
from nameplate.studies._quantity import (
    Fields,
    FromResult,
    StudyQuantity,
    block_over_throughput,
    work_over_time,
)

LATENCY_NOTE = "Latency is the block size ÷ the throughput of all threads together, as in the study."
RAND_NOTE = (
    "Offsets of the random pattern come from rand(), as in the study, whose lock slows threads down. Precomputed: "
    "nameplate's own, with offsets that were drawn before."
)
IN_FLIGHT_NOTE = "In flight: an operation's time from start to end on its own thread, nameplate's latency."


def throughput(measured: StudyRun, table: str, probe: str, unit: str) -> StudyQuantity:
    """Return the throughput by the study's definition, all bytes of all threads ÷ the time of all samples.

    ``measured`` is the run whose values are compared with the study. ``table`` is the name of the table in the CSV file
    of published values. ``probe`` is "disk_block" or "memory_block". ``unit`` is the unit of the result, a key of
    ``FACTORS`` such as "MiB/s". The fields of the quantity are "op", "pattern", "block_bytes" and "threads".
    """
    return StudyQuantity(
        measured=measured,
        name="throughput",
        table=table,
        published_metric="bandwidth",
        unit=unit,
        probe=probe,
        metric="bandwidth",
        params=blocks,
        value=work_over_time,
    )


def latency(
    measured: StudyRun, table: str, probe: str, unit: str, value: FromResult = block_over_throughput
) -> StudyQuantity:
    """Return the latency by the study's definition as a quantity: by default, the block size ÷ the throughput.

    ``measured``, ``table`` and ``probe`` are as for ``throughput``. ``unit`` is the unit of the result, a unit of time
    in ``FACTORS`` such as "µs". ``value`` is called with the run's bandwidth result and the fields "op", "pattern",
    "block_bytes" and "threads", and returns the latency in seconds, or None if it is not known. With the probe
    "disk_block", a cell also has the time of an operation from its start to its end (nameplate's metric "latency"),
    which the table calls "in flight".
    """
    metric_here, name_here = ("latency", "in flight") if probe == "disk_block" else ("", "")
    return replace(
        throughput(measured, table, probe, unit), name="latency", published_metric="latency", value=value,
        alternative_metric=metric_here, alternative_name=name_here,
    )  # fmt: skip


def with_rand(quantity: StudyQuantity, patterns: Sequence[str]) -> StudyQuantity:
    """Return a quantity of ``memory_block`` whose offsets come from rand(), for the patterns of a study that calls it.

    A cell of these patterns also has the value with precomputed offsets. If the run did not measure the patterns with
    rand(), ``quantity`` is returned unchanged.
    """
    if quantity.measured.find("memory_block", "bandwidth", {"generator": "rand"}) is None:
        return quantity

    def params(fields: Fields) -> dict[str, Value]:
        return {**blocks(fields), "generator": "rand" if fields["pattern"] in patterns else "precomputed"}

    def precomputed_params(fields: Fields) -> dict[str, Value] | None:
        return {**blocks(fields), "generator": "precomputed"} if fields["pattern"] in patterns else None

    return replace(quantity, params=params, alternative_name="precomputed", alternative_params=precomputed_params)
