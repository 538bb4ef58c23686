"""Have nameplate-core compute the values of each round from the samples of run files, many times faster than here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import IO

import msgspec

from nameplate.errors import CoreMissing
from nameplate.execution.child_process import Streams, end, start
from nameplate.execution.launch import core_path
from nameplate.probes import load_probes
from nameplate.probes.shared.formulas import formulas_of
from nameplate.results.run_file import RoundTexts


def round_values(paths: Sequence[Path]) -> Iterator[RoundTexts | None]:
    """Yield each run file with the values of rounds in place of samples, as ``read_round_values`` reads it.

    Samples are kept where nameplate-core cannot compute all
    metrics of a probe, or finds anything unusual. An item is None if only the file itself can be read: it is not a
    regular file, has more than 1 GiB, its name is not UTF-8, or nameplate-core is missing or fails. The process of
    nameplate-core ends with the iterator.
    """
    try:
        request = msgspec.json.encode({"formulas": _formulas(), "files": [str(path) for path in paths]})
        process = start([str(core_path()), "round-values"], streams=Streams(PIPE, PIPE, DEVNULL))
    except (OSError, CoreMissing, UnicodeEncodeError):
        yield from [None] * len(paths)
        return
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended, so that nothing can be read
            process.stdin.write(request)
            process.stdin.close()
        for _ in paths:
            yield _next_texts(process.stdout)
    finally:
        end(process)


@cache
def _formulas() -> dict[str, object]:
    found = {name: formulas_of(probe) for name, probe in load_probes().items()}
    return {name: formulas for name, formulas in found.items() if formulas is not None}


def _next_texts(output: IO[bytes]) -> RoundTexts | None:
    sizes = output.readline().split()  # none for a file that cannot be read, or after the end of the process
    if len(sizes) != len(RoundTexts._fields) or not all(size.isdigit() for size in sizes):
        return None
    texts = RoundTexts(*(output.read(int(size)) for size in sizes))
    return texts if [len(text) for text in texts] == [int(size) for size in sizes] else None
