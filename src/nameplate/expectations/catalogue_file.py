"""Read the catalogue: what others measured on cloud instance types. The distribution ``nameplate-catalogue`` has it."""

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
    """A source of the catalogue, with its licence and what was changed."""

    name: str
    address: str
    licence: str
    changes: str


class CatalogueMachine(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """An instance type, and what one instance of it delivered; None was not measured.

    ``vendor`` is such as "aws" and ``type`` such as "c7i.large". ``cpu`` is the model's name in the guest, and ``dmi``
    the vendor and the product name of the DMI; ``vcpus`` is 0, and they are empty, if only a floor is known.
    ``latency_s`` is that of a random pointer chase on huge pages, the bandwidths are those of all vCPUs in bytes per
    second. Below ``triad_floor_bytes_per_s`` the vendor's health check drains a machine of this type.
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
    """The machines of a catalogue, the day they were collected, and the sources."""

    collected: str
    sources: list[CatalogueSource]
    machines: Sequence[CatalogueMachine]


class _Head(msgspec.Struct, frozen=True):
    schema: int
    collected: str
    sources: list[CatalogueSource]


def find_catalogue() -> Path | None:
    """Return the path of the installed catalogue, or None if its distribution is not installed."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(next(iter(found.submodule_search_locations))) / "machines.jsonl"


def read_catalogue(path: Path) -> Catalogue:
    """Return the catalogue in a file.

    Raises:
        FileError: the file cannot be read, or a line is not what it should be; the message has the line.
    """
    lines = read_text(path, MAX_BYTES, "catalogue").splitlines()
    head = _decoded(path, 1, lines[0] if lines else "", _HEAD)
    if head.schema != _SCHEMA:
        raise FileError(f"{path}: schema {head.schema}, but this version of nameplate reads {_SCHEMA}")
    machines = [_decoded(path, number, line, _MACHINE) for number, line in enumerate(lines[1:], start=2)]
    return Catalogue(head.collected, head.sources, machines)


_HEAD = msgspec.json.Decoder(_Head)
_MACHINE = msgspec.json.Decoder(CatalogueMachine)


def _decoded(path: Path, number: int, line: str, decoder: msgspec.json.Decoder[_Decoded]) -> _Decoded:
    try:
        return decoder.decode(line)
    except msgspec.DecodeError as error:
        raise FileError(f"{path}, line {number}: {_words(str(error))}") from None


def _words(error: str) -> str:
    """Return an error with the name of the field instead of its position in the list."""
    message, _, place = error.partition(" - at `$[")
    position = place.partition("]")[0]
    fields = CatalogueMachine.__struct_fields__
    if not position.isdigit() or int(position) >= len(fields):
        return error
    return f"{fields[int(position)]}: {message}"
