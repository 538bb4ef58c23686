"""Long series with the real core: one sample per interval, and the disturbances in them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nameplate.records.run_record import Sample
from nameplate.results.run_file import read_run

COMMAND = (sys.executable, "-m", "nameplate")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "run", *arguments], capture_output=True, text=True, timeout=120, cwd=cwd, check=False
    )


def samples_of(path: Path) -> list[Sample]:
    (measurement,) = read_run(path).measurements
    return measurement.samples


@pytest.mark.parametrize(
    ("probe", "series", "interval_s", "count"),
    [
        (("null",), "2s/10ms", 0.01, 200),
        pytest.param(("cpu_flops", "threads=1", "mix=fma"), "3s/50ms", 0.05, 60, marks=pytest.mark.slow),
        pytest.param(("memory_latency", "size=1MiB"), "3s/100ms", 0.1, 30, marks=pytest.mark.slow),
        pytest.param(
            ("net_stream", "protocol=tcp", "direction=up", "connections=1"), "3s/100ms", 0.1, 30, marks=pytest.mark.slow
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_series_has_one_sample_per_interval_without_gaps(
    probe: tuple[str, ...], series: str, interval_s: float, count: int, tmp_path: Path
) -> None:
    answer = run(*probe, "--series", series, "-o", "x.jsonl", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    samples = samples_of(tmp_path / "x.jsonl")
    assert len(samples) == count
    start_s = samples[0].start_s
    for before, after in zip(samples, samples[1:], strict=False):  # noqa: RUF007
        assert after.start_s == pytest.approx(before.start_s + before.elapsed_s, abs=1e-6)
    total_s = samples[-1].start_s + samples[-1].elapsed_s - start_s
    assert sum(sample.elapsed_s for sample in samples) == pytest.approx(total_s, rel=1e-3)
    # A disturbance may delay the last sample; the series makes up for earlier delays.
    assert total_s > (count - 1) * interval_s
    assert all(0 <= sample.disturbed["between_calls_s"] <= sample.elapsed_s for sample in samples)


def test_an_interval_that_is_too_short_is_rejected_in_one_line(tmp_path: Path) -> None:
    answer = run("null", "duration=50ms", "--series", "1s/20ms", "-o", "x.jsonl", cwd=tmp_path)
    assert answer.returncode == 3
    reason = "not possible as a series with an interval of 0.02 s: the shortest call takes 0."
    assert reason in " ".join(answer.stdout.split())
    assert "Traceback" not in answer.stderr


def measuring_core(process: subprocess.Popen[bytes]) -> int:
    """Return the core that takes nameplate's samples; earlier ones only describe the probes."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for path in Path(f"/proc/{process.pid}/task").glob("*/children"):
            with suppress(OSError):  # a core that only describes may end meanwhile
                for child in path.read_text().split():
                    if "--keeper" in Path(f"/proc/{child}/cmdline").read_text():
                        return int(child)
        time.sleep(0.01)
    raise AssertionError("no core was started")


PERIOD_S = 1.2


def stop_now_and_then(process: subprocess.Popen[bytes], core: int) -> None:
    """Stop a core for a sixth of each 1.2 s."""
    start = time.monotonic()
    times = 0
    while process.poll() is None:
        times += 1
        try:
            os.kill(core, signal.SIGSTOP)
            time.sleep(PERIOD_S / 6)
            os.kill(core, signal.SIGCONT)
        except ProcessLookupError:
            return
        time.sleep(max(0.0, start + times * PERIOD_S - time.monotonic()))


@pytest.mark.slow
def test_a_periodic_disturbance_is_found_and_explained(tmp_path: Path) -> None:
    command = [*COMMAND, "run", "cpu_flops", "threads=1", "mix=fma", "--series", "24s/200ms", "-o", "x.jsonl", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path) as process:
        stop_now_and_then(process, measuring_core(process))
        assert process.stdout is not None
        row: dict[str, Any] = json.loads(process.stdout.read())["rows"][0]
    assert len(samples_of(tmp_path / "x.jsonl")) == 120
    dips = [event for event in row["over_time"]["events"] if event["kind"] == "dips"]
    assert len(dips) == 1, row["over_time"]["events"]
    # Disturbances may deepen some of the dips, and then only those may stand out.
    item = dips[0]["period_s"] / PERIOD_S
    assert item == pytest.approx(max(1, round(item)), rel=0.02)
    assert dips[0]["change"] < -0.2
    assert [moved["name"] for moved in dips[0]["moved"]]
    printed = subprocess.run(
        [*COMMAND, "show", "x.jsonl"], capture_output=True, text=True, cwd=tmp_path, check=True
    ).stdout
    assert "it falls by" in printed


def test_a_terminal_shows_the_series_while_it_runs(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    command = [*COMMAND, "run", "null", "--series", "2s/50ms", "-o", "x.jsonl"]
    terminal = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "120"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, cwd=tmp_path, env=terminal) as process:
        os.close(follower)
        seen = b""
        while True:
            try:
                seen += os.read(leader, 4096)
            except OSError:
                break
        assert process.wait() == 0
    os.close(leader)
    text = seen.decode()
    assert "█" in text
    assert "kop/s, median" in text
    assert "\x1b[3" not in text, "a colour"
