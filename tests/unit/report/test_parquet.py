"""Parquet files, read back by pyarrow."""

from __future__ import annotations

import io
from importlib import util
from importlib.machinery import ModuleSpec

import pyarrow
import pytest
from pyarrow import parquet as reader

from nameplate.errors import UsageError
from nameplate.records.result import Report
from nameplate.report.exports.parquet import export
from report_samples import failed, memory_report, report, result, with_summary


def tables_of(made: Report) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    files = export(made)
    assert list(files) == ["results.parquet", "samples.parquet"]
    results, samples = (
        reader.read_table(io.BytesIO(content)).to_pylist(maps_as_pydicts="strict") for content in files.values()
    )
    return results, samples


def test_a_result_has_its_value_and_its_interval() -> None:
    (row,), _ = tables_of(report([result({"threads": 2}, 50e9)]))
    assert (row["id"], row["metric"], row["unit"]) == ("cpu_flops threads=2", "rate", "FLOP/s")
    assert (row["value"], row["ci_low"], row["ci_high"]) == (50e9, 49e9, 51e9)
    assert row["params"] == {"threads": "2"}


def test_what_is_unknown_is_null() -> None:
    rows, _ = tables_of(
        report([with_summary(result({"threads": 2}), ci=None), failed({"threads": 4}, "skipped", "no cores")])
    )
    assert (rows[0]["ci_low"], rows[0]["ci_high"]) == (None, None)
    assert (rows[1]["value"], rows[1]["outcome"], rows[1]["reason"]) == (None, "skipped", "no cores")


def test_samples_have_every_value_of_every_series() -> None:
    made = memory_report()
    _, samples = tables_of(made)
    expected = [value for one in made.results for value in one.series.value]
    assert expected
    assert [row["value"] for row in samples] == expected


def test_files_without_rows_have_the_same_columns() -> None:
    full, empty = export(memory_report()), export(report([]))
    for name, content in full.items():
        assert reader.read_schema(io.BytesIO(empty[name])) == reader.read_schema(io.BytesIO(content))
        assert reader.read_metadata(io.BytesIO(empty[name])).num_rows == 0
    assert reader.read_schema(io.BytesIO(full["samples.parquet"])).field("value").type == pyarrow.float64()


def test_without_pyarrow_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = util.find_spec

    def find_except(name: str) -> ModuleSpec | None:
        return None if name == "pyarrow" else find(name)

    monkeypatch.setattr("nameplate.extras.find_spec", find_except)
    with pytest.raises(UsageError, match=r"pip install 'nameplate\[parquet\]'"):
        export(report([]))
