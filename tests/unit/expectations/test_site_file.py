"""Site files: written and read back, and errors with their lines."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec
import pytest

from nameplate.errors import FileError
from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.machine_class import MachineClass
from nameplate.expectations.site_file import ClassRanges, make_site, read_site, site_text

CLASS = MachineClass(cpu='An "EPYC" CPU', cores=64, memory_gib=256, product="Rack\\9")
RANGE = ExpectedRange(
    experiment="cpu_flops threads=1", metric="rate", kind="capability", unit="FLOP/s", low=1e9, typical=2e9, high=3e9,
    machines=12, left_out=["n7"],
)  # fmt: skip
RANGES = [RANGE, msgspec.structs.replace(RANGE, metric="best")]
SITE = make_site(
    [ClassRanges(machine=CLASS, machines=13, runs=40, provisional=False, without_range=["a: why"], range=RANGES)],
    date(2026, 11, 26),
)


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(site_text(SITE))
    assert read_site(path) == SITE
    assert read_site(path).ranges_of(CLASS) == SITE.classes[0]
    assert read_site(path).ranges_of(MachineClass(cpu="other", cores=1, memory_gib=1)) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "schema = 2", "schema = 2, but this version of nameplate reads 1"),
        ("cores = 64", "cores = -1", "line 14: cores: Expected `int` >= 1"),
        ('cpu = "An', 'cqu = "An', "line 13: unknown key 'cqu'"),
        ("low = 1000000000.0", "low = 5e9", "line 18: low 5e+09, typical 2e+09, high 3e+09: they must ascend"),
        ("high = 3000000000.0", "high = inf", "line 25: high: Expected `float` <= 1e"),
        ("machines = 13", "", "line 6: Object missing required field `machines`"),
        ("runs = 40", "runs = [", "Invalid value (at line"),
        ("[class.machine]", f"[class{'.a' * 300}]", "line 12 has more than 200 dots; shorten it"),
        ('metric = "best"', 'metric = "rate"', "cpu_flops threads=1 rate of An "),
        ('experiment = "cpu', 'experiment = " cpu', "line 19: experiment: Expected `str` matching regex"),
    ],
)  # fmt: skip
def test_an_error_has_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "site.toml"
    text = site_text(SITE)
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FileError) as raised:
        read_site(path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
