"""A reader shows a mutated file or reports the error in one line.

These are a few hundred of the cases of ``bench/readers/fuzz_readers.py``, the same ones in every test run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mutated_files import CASES, Make, read_case

CASES_IN_ALL = 500


@pytest.mark.slow
@settings(max_examples=CASES_IN_ALL, derandomize=True, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(st.integers(0, 2**32 - 1))
def test_a_mutated_file_causes_no_traceback(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        actual = read_case(Random(number), Path(folder))
    assert actual is None, f"python bench/readers/fuzz_readers.py 1 {number}\n{actual.text}"


@pytest.mark.parametrize("make", [make for make, _ in CASES], ids=lambda make: make.__name__.removeprefix("case_of_"))
def test_a_case_is_reproducible_from_its_number(make: Make, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (make(tmp_path / name, Random(7)) for name in ("one", "two"))
    assert [word.replace("/one", "") for word in one] == [word.replace("/two", "") for word in two]
