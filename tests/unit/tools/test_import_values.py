"""Values that are known are imported as they are, or the output is refused; outputs with harmless options are read.

These are some of the outputs of ``bench/readers/import_values.py``, the same ones in every test run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from import_check import MIN_HARMLESS_SHARE, check_import
from tool_outputs import GENERATORS, tool_of
from tool_outputs.truth import Reading

OUTPUTS = 600


@pytest.mark.parametrize("tool", GENERATORS)
def test_an_output_is_read_as_its_tool_meant_it_or_not_at_all(tool: str, tmp_path: Path) -> None:
    imports = [check_import(number, tmp_path) for number in range(OUTPUTS) if tool_of(number) == tool]
    assert [(one.number, text) for one in imports for _, text in one.faults] == []
    harmless = [one for one in imports if one.output.reading is Reading.MUST]
    refused = [(one.number, one.refusal or one.lacks) for one in harmless if not one.is_read]
    assert len(refused) <= (1 - MIN_HARMLESS_SHARE) * len(harmless), refused
