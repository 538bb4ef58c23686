"""Find the cores that a fleet sends to its hosts, one for each architecture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from nameplate import __version__
from nameplate.errors import UsageError
from nameplate.execution.launch import core_path
from nameplate.records.inputs import read_input

_DISTRIBUTION, _PACKAGE = "nameplate-cores", "nameplate_cores"
_MAX_BYTES = 64 << 20
# The architecture of an ELF program (e_machine), as uname -m calls it.
_ELF = b"\x7fELF"
_ARCHITECTURES = {62: "x86_64", 183: "aarch64"}


def read_cores(paths: Sequence[Path]) -> dict[str, bytes]:
    """Return the cores by their architecture, as ``uname -m`` calls it.

    ``paths`` are the files that the user named. If the user named none, the portable cores of the package
    nameplate-cores are read, or the core of this installation if that package is not installed.

    Raises:
        UsageError: a file is not a program for Linux, two are for the same architecture, or nameplate-cores is of
            another version.
        CoreMissing: there is no core.
        FileError: a file cannot be read.
    """
    cores: dict[str, bytes] = {}
    for path in paths or _portable_cores() or [core_path()]:
        program = read_input(path, _MAX_BYTES, "program")
        architecture = _ARCHITECTURES.get(int.from_bytes(program[18:20], "little"))
        if not program.startswith(_ELF) or architecture is None:
            raise UsageError(f"--core {path}: not a program for {' or '.join(_ARCHITECTURES.values())}")
        if architecture in cores:
            raise UsageError(f"--core {path}: there is another core for {architecture}; leave out one of them")
        cores[architecture] = program
    return cores


def _portable_cores() -> list[Path]:
    """Return the cores of the package nameplate-cores, [] if it is not installed."""
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.origin:
        return []
    version = (Path(spec.origin).read_text().partition('__version__ = "')[2]).partition('"')[0]
    if version != __version__:
        raise UsageError(
            f"{_DISTRIBUTION} {version} is installed, but nameplate is {__version__}: "
            f"pip install {_DISTRIBUTION}=={__version__}, or give the cores with --core"
        )
    return sorted(Path(spec.origin).parent.glob("nameplate-core-*"))
