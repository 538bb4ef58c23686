"""The catalogue: what is shipped can be read, is what its sources say, and damaged files are refused with the line."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from catalogue_samples import shipped_catalogue, type_named
from nameplate.errors import FileError
from nameplate.expectations.catalogue_file import read_catalogue

CATALOGUE = Path(__file__).parents[3] / "catalogue"
HEAD = '{"schema":1,"collected":"2026-11-23","sources":[]}'
LINE = '["aws","x.large","x86_64","A CPU",2,2,1,"Amazon EC2 x.large",1e-7,2e10,3e10,null]'


def test_the_shipped_file_is_made_from_its_sources(tmp_path: Path) -> None:
    for name in ("make.py", "sources"):
        (tmp_path / name).symlink_to(CATALOGUE / name)
    (tmp_path / "nameplate_catalogue").mkdir()
    script = (CATALOGUE / "make.py").read_text()
    (tmp_path / "make.py").unlink()
    (tmp_path / "make.py").write_text(script)
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True)
    made = (tmp_path / "nameplate_catalogue" / "machines.jsonl").read_text()
    assert made == (CATALOGUE / "nameplate_catalogue" / "machines.jsonl").read_text()


def test_the_values_are_those_of_the_source_in_si_units() -> None:
    catalogue = shipped_catalogue()
    with (CATALOGUE / "sources" / "cloud-instances.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["type"]: row for row in csv.DictReader(file)}
    assert len(rows) == 3587
    row, actual = rows["c7i.large"], type_named(catalogue, "c7i.large")
    assert (actual.vendor, actual.cpu, actual.vcpus) == ("aws", row["cpu"], int(row["vcpus"]))
    assert actual.read_bytes_per_s == pytest.approx(float(row["lmbench_rd_512mb_mb_s"]) * 1e6, rel=1e-3)
    assert actual.update_bytes_per_s == pytest.approx(2 * float(row["lmbench_rdwr_512mb_mb_s"]) * 1e6, rel=1e-3)
    measured = next(machine for machine in catalogue.machines if machine.latency_s)
    assert measured.latency_s == pytest.approx(float(rows[measured.type]["latency_ns"]) * 1e-9, rel=1e-3)


def test_floors_have_the_names_that_azure_gives_to_its_types() -> None:
    floor = type_named(shipped_catalogue(), "Standard_HB120rs_v3")
    assert floor.triad_floor_bytes_per_s == 320e9
    assert floor.read_bytes_per_s is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: "),
        ("[]", "line 1: Expected `object`, got `array`"),
        (HEAD.replace("1", "9", 1), "schema 9, but this version of nameplate reads 1"),
        (f"{HEAD}\n{LINE}\n" + LINE.replace("1e-7", '"fast"'), "line 3: latency_s: Expected `float | null`, got `str`"),
        (f"{HEAD}\n" + LINE.replace("1e-7", "0"), "line 2: latency_s: Expected `float` > 0.0"),
        (f"{HEAD}\n" + LINE.replace("2,2,1", "-2,2,1"), "line 2: vcpus: Expected `int` >= 0"),
        (f"{HEAD}\n" + LINE.replace("A CPU", "A" * 999), "line 2: cpu: Expected `str` of length <= 256"),
        (f"{HEAD}\n" + LINE.replace(",null", ""), "line 2: Expected `array` of at least length 12, got 11"),
        (f"{HEAD}\n" + "[" * 100_000, "line 2: "),
        (f"{HEAD}\n\x00", "line 2: "),
    ],
)
def test_a_wrong_file_is_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "machines.jsonl"
    path.write_text(text)
    with pytest.raises(FileError, match=r"machines\.jsonl") as raised:
        read_catalogue(path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_sources_name_their_licences() -> None:
    licences = [source.licence for source in shipped_catalogue().sources]
    assert licences == ["CC BY-SA 4.0", "MIT"]
    head = json.loads((CATALOGUE / "nameplate_catalogue" / "machines.jsonl").read_text().splitlines()[0])
    assert all(source["name"] in (CATALOGUE / "LICENSE").read_text() or source["address"] in (
        CATALOGUE / "LICENSE").read_text() for source in head["sources"])  # fmt: skip
