"""Name the areas of a machine, such as memory or disk. A probe's area is its name up to the first underscore."""

from __future__ import annotations

# The known areas, in the order in which they are shown. Other areas follow them under their own names.
_TEXTS = {"cpu": "CPU", "memory": "memory", "disk": "disk", "net": "network", "mpi": "MPI", "null": "the tool itself"}
_LABELS = {"memory": "MEM", "null": "TOOL"}


def text_of_area(area: str) -> str:
    """Return the name of an area in a sentence, such as "network" for net; an unknown area is returned unchanged."""
    return _TEXTS.get(area, area)


def label_of_area(area: str) -> str:
    """Return the label of an area for a row, in capitals; it has at most four letters for the known areas."""
    return _LABELS.get(area, area.upper())


def order_of_area(area: str) -> int:
    """Return the position of an area in lists, from 0; all unknown areas share the last position."""
    return [*_TEXTS].index(area) if area in _TEXTS else len(_TEXTS)


def title_of_area(area: str) -> str:
    """Return the name of an area as a heading, such as "Network" for net."""
    text = text_of_area(area)
    return text[:1].upper() + text[1:]
