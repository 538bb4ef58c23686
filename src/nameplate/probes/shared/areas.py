"""Name the areas of a machine, the first words of the probes' names."""

from __future__ import annotations

# In the order in which areas are shown. Others follow under their own names.
_WORDS = {"cpu": "CPU", "memory": "memory", "disk": "disk", "net": "network", "mpi": "MPI", "null": "the tool itself"}
_LABELS = {"memory": "MEM", "null": "TOOL"}


def words_of_area(area: str) -> str:
    """Return the name of an area in a sentence, such as "network" for net."""
    return _WORDS.get(area, area)


def label_of_area(area: str) -> str:
    """Return the name of an area as the label of a row: at most four capital letters for the known areas."""
    return _LABELS.get(area, area.upper())


def order_of_area(area: str) -> int:
    """Return the position of an area where areas are listed; unknown areas share the last one."""
    return [*_WORDS].index(area) if area in _WORDS else len(_WORDS)


def title_of_area(area: str) -> str:
    """Return the name of an area as a heading, such as "Network" for net."""
    words = words_of_area(area)
    return words[:1].upper() + words[1:]
