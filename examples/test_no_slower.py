"""Fail a test suite if the processor became slower by 10 % than in a base run, say after an update of the kernel.

The first run of the test records the base. Only SLOWER fails: UNSURE means that other programs took too much of the
machine for a verdict on it.

    $ pytest -q examples/test_no_slower.py
    s [100%]
    1 skipped in 3.52s
    $ pytest -q examples/test_no_slower.py
    . [100%]
    1 passed in 3.61s
"""

from pathlib import Path

import pytest

import nameplate

BASE = Path("base.jsonl")


def measure(output: Path | None = None) -> nameplate.Run:
    """Measure one core with the same samples in every run."""
    return nameplate.measure("cpu_flops", threads=1, rounds=6, samples=5, time="1ms", output=output)


def test_the_processor_is_no_slower_than_in_the_base_run() -> None:
    """Compare what the processor is capable of, whatever else runs."""
    if not BASE.exists():
        measure(BASE)
        pytest.skip(f"recorded {BASE}, which later runs are compared with")
    changes = nameplate.compare(nameplate.read(BASE), measure(), detect=0.1)
    assert changes.rows
    capabilities = {f"{row.id} {row.metric}": row.capability for row in changes.rows if row.capability}
    assert not [
        f"{metric}: {change.ratio:.0%} of the base"
        for metric, change in capabilities.items()
        if change.verdict == "SLOWER" and change.ratio < 0.9
    ]
