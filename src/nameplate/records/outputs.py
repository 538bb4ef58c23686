"""Check where a command is going to write before it does its work: no output replaces an input or is refused late."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from nameplate.errors import FileError
from nameplate.records.atomic_write import is_run_file


def check_output(
    option: str, path: Path | None, inputs: Iterable[Path] = (), others: Iterable[Path | None] = ()
) -> None:
    """Check that the file ``path`` of ``option`` can be written, and is none of the inputs and other outputs.

    Nothing is written or created. None is accepted and means no output. Raises FileError.
    """
    if path is None:
        return
    try:
        same = next((other for other in _named(inputs, others) if _is_same(path, other)), None)
        problem = f"would overwrite {same}: name another file" if same else _problem_of(path)
    except RuntimeError:
        problem = "cannot be written: its links lead in a circle"
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
    if problem:
        raise FileError(f"{option} {path} {problem}")


def _named(*groups: Iterable[Path | None]) -> Iterator[Path]:
    for group in groups:
        yield from (each for each in group if each is not None)


def _problem_of(path: Path) -> str:
    """Return why the file cannot be written, empty when it can."""
    folder = path.resolve().parent
    problems = {
        "is a directory: name a file in it": path.is_dir(),
        "is not a regular file: name another file": path.exists() and not path.is_file(),
        "is a run file, which is not overwritten: name another file": is_run_file(path),
        f"cannot be written: there is no directory {folder}": not folder.is_dir(),
        f"cannot be written: {folder} takes no new files from this user": not os.access(folder, os.W_OK),
    }
    return next((words for words, is_so in problems.items() if is_so), "")


def _is_same(path: Path, other: Path) -> bool:
    """Return whether both name one file, also by links, or would once both exist."""
    try:
        return path.samefile(other)
    except OSError:
        return path.resolve() == other.resolve()
