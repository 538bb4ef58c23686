"""Change the form of an output, but not its content, as jq and the logs of job systems do."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import datetime, timezone


def reprinted(rng: random.Random, text: str, keeps_order: bool = False) -> str:
    """Return the same JSON as jq or Python print it: in one line, with other spaces, or with sorted names."""
    document = json.loads(text)
    forms = [
        json.dumps(document, separators=(",", ":")),
        json.dumps(document),
        json.dumps(document, indent=2),
        json.dumps(document, indent=4, sort_keys=not keeps_order),
    ]
    return rng.choice(forms)


# What mpirun of Open MPI 4 and 5, Hydra, srun, pdsh and others write before each line of a process.
_PREFIXES = (
    "[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-node001.cluster.example.org-3145728@1,0]<stdout>: ", "0: ", "00: ",
    "[0] ", "[node01:12345] ", "node1: ", "node1 ", "n1 > ", "web-1  | ", "  ", "> ",
)  # fmt: skip


def logged(rng: random.Random, lines: Sequence[str]) -> list[str]:
    """Return the lines as launchers and job systems write them: with a rank, a node or the time before each."""
    prefix = rng.choice(_PREFIXES)
    form = rng.choice(["", "", *_TIMES])
    if not form:
        return [prefix + line for line in lines]
    times = [_time(form, second) for second in _seconds(rng, len(lines))]
    separator = "" if form == _TIMES[0] else " "
    between = rng.choice(["[1,0]<stdout>:", "<stdout>:"]) if form == _TIMES[0] else separator
    before = prefix if prefix.strip() and rng.random() < 0.3 else ""
    return [f"{before}{time}{between}{line}" for time, line in zip(times, lines, strict=True)]


# Of mpirun --timestamp-output, of ts, journald, ISO 8601, container engines and CI systems, and libraries.
_TIMES = (
    "%a %b %e %H:%M:%S %Y", "%b %e %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S,123", "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.1234567Z", "%Y-%m-%dT%H:%M:%S+0100", "%H:%M:%S", "[%H:%M:%S]", "[%s.123456]", "%s.123", "%s",
)  # fmt: skip


def _seconds(rng: random.Random, count: int) -> list[int]:
    """Return ascending times in seconds since 1970, as in a log whose lines come in bursts."""
    second = rng.randint(1_500_000_000, 1_900_000_000)
    return [second := second + rng.choice([0, 0, 0, 1, 40]) for _ in range(count)]


def _time(form: str, second: int) -> str:
    return datetime.fromtimestamp(second, timezone.utc).strftime(form.replace("%s", str(second)))


def interleaved(rng: random.Random, first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the lines of two hosts that ran at the same time, as pdsh or srun --label write them."""
    before, after = rng.choice([("n1: ", "n2: "), ("0: ", "1: "), ("[1,0]<stdout>:", "[1,2]<stdout>:"), ("", "n2: ")])
    rest, lines = [after + line for line in second], []
    for line in first:
        count = rng.choice([0, 1, 2])
        lines += [before + line, *rest[:count]]
        rest = rest[count:]
    return lines + rest
