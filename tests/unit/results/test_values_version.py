"""The version of the values is raised whenever a value of a recorded run changes, and only then."""

from __future__ import annotations

from pathlib import Path

from nameplate.results.digest import VALUES_VERSION
from recorded_runs import recorded_values, values_hash


def test_the_version_of_the_values_is_that_of_the_recorded_runs(tmp_path: Path) -> None:
    """A digest of another version is computed anew, which takes long for a folder of many runs."""
    version, recorded = recorded_values()
    current = values_hash(tmp_path)
    if current == recorded:
        assert version == VALUES_VERSION, "no value changed: take the version back"
    else:
        assert version < VALUES_VERSION, "values changed: raise VALUES_VERSION in results/digest.py"
        raise AssertionError(f"record the values of version {VALUES_VERSION}: python tests/support/recorded_runs.py")
