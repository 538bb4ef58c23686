"""Change the form of an output, but not its content, as jq and the logs of job systems do."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence


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


def logged(rng: random.Random, lines: Sequence[str]) -> list[str]:
    """Return the lines as launchers and job systems write them: with a rank, a node or the time before each."""
    if rng.random() < 0.3:
        return [f"2026-11-30T01:00:{number % 60:02d}.1234567Z {line}" for number, line in enumerate(lines)]
    prefix = rng.choice(["[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", "[0] ", "node1: ", "  ", "> "])
    return [prefix + line for line in lines]
