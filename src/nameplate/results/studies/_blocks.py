"""Throughput and latency of reading, writing and copying by blocks, as several studies define them."""

from __future__ import annotations

from dataclasses import replace

from nameplate.results.studies._measured import StudyRun
from nameplate.results.studies._parameters import blocks
from nameplate.results.studies._quantity import (
    FromResult,
    StudyQuantity,
    block_over_throughput,
    work_over_time,
)

LATENCY_NOTE = "Latency is the block ÷ the throughput of all threads together, as in the study."
IN_FLIGHT_NOTE = "In flight: an operation's time from start to end on its own thread, nameplate's latency."


def throughput(measured: StudyRun, table: str, probe: str, unit: str) -> StudyQuantity:
    """Return the throughput of all threads together as a quantity: all bytes ÷ all time.

    ``table`` is the study's table in its CSV file, ``probe`` is "disk_block" or "memory_block", and ``unit`` is a key
    of ``FACTORS`` such as "MiB/s". A published value is identified by "op", "pattern", "block_bytes" and "threads".
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
    """Return the latency by the study's definition as a quantity; by default the block size ÷ the throughput.

    ``table`` is the study's table in its CSV file, ``probe`` is "disk_block" or "memory_block", and ``unit`` is a unit
    of time of ``FACTORS`` such as "µs". ``value`` computes the latency in seconds from the result of the bandwidth and
    the fields "op", "pattern", "block_bytes" and "threads" of a published value. For "disk_block" the cells also have
    nameplate's latency, the time that an operation is in flight.
    """
    own_metric, own_name = ("latency", "in flight") if probe == "disk_block" else ("", "")
    return replace(
        throughput(measured, table, probe, unit), name="latency", published_metric="latency", value=value,
        own_metric=own_metric, own_name=own_name,
    )  # fmt: skip
