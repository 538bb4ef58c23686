"""Read the catalogue of values that others measured on cloud instance types.

The Python distribution ``nameplate-catalogue`` contains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from nameplate.errors import FileError
from nameplate.records.inputs import read_text

PACKAGE = "nameplate_catalogue"
DISTRIBUTION = "nameplate-catalogue"
MAX_BYTES = 16 << 20
_SCHEMA = 1

_Name = Annotated[str, msgspec.Meta(max_length=256)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 22)]
_Value = Annotated[float, msgspec.Meta(gt=0, le=1e30)] | None
_Decoded = TypeVar("_Decoded")


class CatalogueSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A source of the catalogue.

    ``name`` and ``address`` (a URL) identify the source, ``licence`` is its licence, and ``changes`` says how its data
    was changed.
    """

    name: str
    address: str
    licence: str
    changes: str


class CatalogueMachine(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """An instance type, and the values measured on one instance; None means not measured.

    ``vendor`` is, for example, "aws" and ``type`` "c7i.large". ``cpu`` is the model name of the CPU in the guest, and
    ``dmi`` the guest's vendor and product name from the DMI. ``vcpus`` is 0, and ``cpu`` and ``dmi`` are "", if only
    ``triad_floor_bytes_per_s`` is known. ``latency_s`` is the latency of a random pointer chase on huge pages.
    ``read_bytes_per_s`` and ``update_bytes_per_s`` are the bandwidths of all vCPUs together, for reading and for
    updating in place. The vendor's health check takes a machine out of service if its triad bandwidth is below
    ``triad_floor_bytes_per_s``.
    """

    vendor: _Name
    type: _Name
    architecture: _Name
    cpu: _Name
    vcpus: _Count
    threads_per_core: _Count
    sockets: _Count
    dmi: _Name
    latency_s: _Value
    read_bytes_per_s: _Value
    update_bytes_per_s: _Value
    triad_floor_bytes_per_s: _Value


class Catalogue(msgspec.Struct, frozen=True):
    """The machines of a catalogue, the sources, and the date (``collected``, in ISO 8601) of the collection."""

    collected: str
    sources: list[CatalogueSource]
    machines: Sequence[CatalogueMachine]


class _Head(msgspec.Struct, frozen=True):
    schema: int
    collected: str
    sources: list[CatalogueSource]


def find_catalogue() -> Path | None:
    """Return the path of the installed catalogue, or None if its distribution is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / "machines.jsonl"


def read_catalogue(path: Path) -> Catalogue:
    """Return the content of the catalogue file ``path``.

    Raises:
        FileError: the file cannot be read, or a line is not valid; the message has the number of the line.
    """
    lines = read_text(path, MAX_BYTES, "catalogue").splitlines()
    head = _decoded(path, 1, lines[0] if lines else "", _HEAD)
    if head.schema != _SCHEMA:
        raise FileError(
            f"{path}: schema {head.schema}, but this version of nameplate reads {_SCHEMA}; install the "
            "nameplate-catalogue of this version"
        )
    machines = [_decoded(path, number, line, _MACHINE) for number, line in enumerate(lines[1:], start=2)]
    return Catalogue(head.collected, head.sources, machines)


_HEAD = msgspec.json.Decoder(_Head)
_MACHINE = msgspec.json.Decoder(CatalogueMachine)


def _decoded(path: Path, number: int, line: str, decoder: msgspec.json.Decoder[_Decoded]) -> _Decoded:
    try:
        return decoder.decode(line)
    except msgspec.DecodeError as error:
        raise FileError(f"{path}, line {number}: {_message(str(error))}") from None


def _message(error: str) -> str:
    """Return an error with the name of the field instead of its position in the list."""
    message, _, path = error.partition(" - at `$[")
    position = path.partition("]")[0]
    fields = CatalogueMachine.__struct_fields__
    if not position.isdigit() or int(position) >= len(fields):
        return error
    return f"{fields[int(position)]}: {message}"
