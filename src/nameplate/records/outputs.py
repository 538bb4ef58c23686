"""Check the output files of a command before it does its work, so that none replaces an input or fails late."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nameplate.errors import FileError
from nameplate.records.replaceable import why_not_replaceable


def check_output(
    option: str,
    path: Path | None,
    inputs: Iterable[Path | None] = (),
    further: Iterable[Path | None] = (),
    force: bool = False,
    content: bytes | None = None,
) -> None:
    """Check that an output file can be written and replaces neither an input nor another output of the command.

    ``option`` is the command-line option that names the file, such as ``-o``, for the message. ``path`` is the file;
    None means no output, and is always accepted. ``inputs`` are the files that the command reads, and ``further`` its
    other outputs; None in either is ignored. Links are followed. An existing file is accepted if it is empty, if its
    checksum shows that nameplate wrote all of it, if it already has the new ``content`` (None if the content is not
    known yet), or, with ``force``, if it is not a run file. Nothing is written or created.

    Raises:
        FileError: ``path`` is one of ``inputs`` or ``further``, a file that may not be replaced, a directory or a
            special file, or its directory does not exist or is not writable.
    """
    if path is None:
        return
    try:
        files = [*inputs, *further]
        same = next((other for other in files if other is not None and _is_same(path, other)), None)
        problem = f"would overwrite {same}: name another file" if same else _problem_of(path, force, content)
    except RuntimeError:
        problem = "cannot be written: its symbolic links form a loop"
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
    if problem:
        raise FileError(f"{option} {path} {problem}")


def _problem_of(path: Path, force: bool, content: bytes | None) -> str:
    """Return why the file cannot be written; empty if it can."""
    folder = path.resolve().parent
    problems = {
        "is a directory: name a file in it": path.is_dir(),
        "is not a regular file: name another file": path.exists() and not path.is_file(),
        f"cannot be written: there is no directory {folder}": not folder.is_dir(),
        f"cannot be written: no permission to create files in {folder}": not os.access(folder, os.W_OK),
    }
    return next((message for message, is_so in problems.items() if is_so), "") or why_not_replaceable(
        path, force, content
    )


def _is_same(path: Path, other: Path) -> bool:
    """Return whether both paths name the same file, also through links, or would if both existed."""
    try:
        return path.samefile(other)
    except OSError:
        return path.resolve() == other.resolve()
