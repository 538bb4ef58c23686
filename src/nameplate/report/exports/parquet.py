"""Export Parquet files of the results and of all samples, for pandas, DuckDB, Spark and Arrow."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from nameplate.extras import check_extra
from nameplate.records.result import Report, Result

# The columns that identify a row in both files, then the other columns of each file, with their Arrow types.
_KEYS = {"machine": "string", "id": "string", "probe": "string", "metric": "string", "unit": "string"}
_NUMBERS = ("value", "ci_low", "ci_high", "capability", "capability_ci_low", "capability_ci_high", "mean", "best",
            "sustained", "p95", "p99", "rated", "efficiency", "disturbed")  # fmt: skip
_RESULT = {**dict.fromkeys(_NUMBERS, "float64"), "rounds": "int64", "samples": "int64", "outcome": "string",
           "reason": "string"}  # fmt: skip
_SAMPLE = {"round": "int64", "start_s": "float64", "value": "float64", "disturbed": "bool"}


def export(report: Report) -> dict[str, bytes]:
    """Return the bytes of ``results.parquet`` and ``samples.parquet`` by file name, compressed with Zstandard.

    The rows of both files have ``machine`` (the host name), ``id`` of the experiment, ``probe``, ``metric``, ``unit``
    and ``params``, a map from name to text. ``results.parquet`` has one row per metric of each experiment, in the order
    of the report, with the numbers, ``outcome`` and ``reason`` of ``Summary``. ``samples.parquet`` has one row per
    sample of each measured metric, in order of time: ``round`` (from 1), ``start_s`` (seconds on a time axis that joins
    the rounds of the experiment), ``value`` and ``disturbed``. Values are in SI base units, and null if unknown.

    Raises:
        UsageError: pyarrow is not installed.
    """
    check_extra("parquet", "--format parquet")
    machine = report.machine.hostname if report.machine else None
    results = [{**_keys(machine, result), **_result(result)} for result in report.results]
    samples = [{**_keys(machine, result), **sample} for result in report.results for sample in _samples(result)]
    return {"results.parquet": _file(results, _RESULT), "samples.parquet": _file(samples, _SAMPLE)}


def _file(rows: list[dict[str, object]], metadata: Mapping[str, str]) -> bytes:
    import pyarrow as arrow  # noqa: PLC0415 (an optional package, which takes half a second)
    from pyarrow import parquet  # noqa: PLC0415 (as above)

    texts = arrow.map_(arrow.string(), arrow.string())
    schema = arrow.schema([*_KEYS.items(), ("params", texts), *metadata.items()])
    content = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(rows, schema), content, compression="zstd")
    return content.getvalue()


def _keys(machine: str | None, result: Result) -> dict[str, object]:
    row = result.summary
    params = {name: str(value) for name, value in row.params.items()}
    return {"machine": machine, "id": result.id, "probe": row.probe, "metric": row.metric, "unit": row.unit,
            "params": params}  # fmt: skip


def _result(result: Result) -> dict[str, object]:
    row = result.summary
    bounds = {
        f"{name}_{side}": bound
        for name, interval in (("ci", row.ci), ("capability_ci", row.capability_ci))
        for side, bound in zip(("low", "high"), interval or (None, None), strict=True)
    }
    return {**{name: getattr(row, name) for name in _RESULT if name not in bounds}, **bounds}


def _samples(result: Result) -> Iterator[dict[str, object]]:
    series, numbers = result.series, result.round_numbers  # none in results of other tools
    for index, start_s, value, disturbed in zip(
        series.round, series.start_s, series.value, series.disturbed, strict=True
    ):
        number = numbers[index - 1] if numbers else index
        yield {"round": number, "start_s": start_s, "value": value, "disturbed": disturbed}
