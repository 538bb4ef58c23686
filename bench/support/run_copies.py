"""Copy a run file as other machines would have recorded it at other times."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

from nameplate.results.digest import digest_of
from nameplate.results.run_file import append_digest, read_run

FIRST = datetime(2024, 1, 1, tzinfo=timezone.utc)

_ELAPSED = re.compile(rb'"elapsed_s":([0-9.e-]+)')
_HOST = re.compile(rb'"hostname":"[^"]*"')
_STARTED = re.compile(rb'"started":"[^"]*"')


def copy(lines: list[bytes], host: str, day: float, slower: float, source: random.Random) -> bytes:
    """Return the run as that host would have recorded it on that day, with times that vary by 1 %.

    The samples of memory_stream take longer by the factor ``slower``.
    """
    factor = source.gauss(1, 0.01)
    started = (FIRST + timedelta(days=day)).isoformat().encode()

    def changed(line: bytes) -> bytes:
        if line.startswith(b'{"type":"sample"'):
            by = factor * (slower if b'"id":"memory_stream' in line else 1.0)
            return _ELAPSED.sub(lambda match: b'"elapsed_s":%.9g' % (float(match[1]) * by), line)
        if line.startswith(b'{"type":"header"'):
            return _HOST.sub(b'"hostname":"%s"' % host.encode(), line)
        return _STARTED.sub(b'"started":"%s"' % started, line, count=1)

    return b"".join(map(changed, lines))


def end_in_order(path: Path) -> None:
    """Append the record that ``nameplate run`` writes at the end of a file."""
    append_digest(file := read_run(path), digest_of(file))
