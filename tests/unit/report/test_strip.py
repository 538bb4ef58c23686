from __future__ import annotations

from nameplate.report.terminal.strip import Strip
from run_samples import sample


def test_a_strip_shows_the_last_values_and_counts_dips_as_runs() -> None:
    strip = Strip()
    assert strip.text() == ""
    for index in range(60):
        strip.add(sample("x", index, flops=240_000_000 if index in (30, 31, 50) else 480_000_000 + index % 3))
        strip.text()
    assert (
        strip.text()
        == "█" * 10 + "▁▁" + "█" * 18 + "▁" + "█" * 9 + " 48.00 GFLOP/s, 2 dips, median 48.00 GFLOP/s, at 600 ms"
    )


def test_noise_is_not_scaled_to_the_full_height() -> None:
    strip = Strip()
    for index in range(40):
        strip.add(sample("x", index, flops=480_000_000 + 1_000_000 * (index % 2)))
    assert set(strip.text()[:40]) == {"█"}
