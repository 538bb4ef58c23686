"""What translations take of a walk through memory, told by a walk over one line in each page.

Such a walk needs as many translations as the whole region and few lines of the caches. In a guest whose host has given
it small pages the buffers hold those, whatever the guest's own pages are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nameplate.units import size_text

if TYPE_CHECKING:
    from nameplate.statistics.memory_levels import Curve, MemoryLevel

LINE_BYTES, PAGE_BYTES = 64, 4096
# One line in each page of so much fits the smallest first cache: whatever a walk over them waits for is translation.
PAGES_IN_FIRST_CACHE_BYTES = 1 << 20
# Less of a load's time is noise, and is left in.
SMALLEST_WAIT = 0.1
# From this share of a step that is there with one line in each page it is a translation buffer's, below the other a
# cache's.
TRANSLATION_SHARE, CAPACITY_SHARE = 0.5, 0.25
# Around a size, what may show in a step across it.
STEP_WINDOW = (0.35, 3.0)


@dataclass(frozen=True)
class Waits:
    """What a load waits where it misses a translation buffer: ``steps`` of a buffer's reach in bytes, and seconds.

    Only of buffers that reach over less than the pages that fit the first cache with a line each.
    """

    steps: tuple[tuple[float, float], ...] = ()

    @property
    def total_s(self) -> float:
        """Of a load that misses them all."""
        return sum(wait for _, wait in self.steps)

    def in_lines(self, size_bytes: int) -> float:
        """Seconds of a load from a region: its lines come in random order, so that a buffer that reaches over a part of
        it is missed by the rest."""
        return sum(wait * max(0.0, 1 - reach / size_bytes) for reach, wait in self.steps)

    def in_pages(self, size_bytes: int) -> float:
        """Seconds of a load of the walk over one line in each page, which misses a buffer always or never."""
        return sum(wait for reach, wait in self.steps if reach < size_bytes)

    def leave(self, level: MemoryLevel, following: MemoryLevel) -> bool:
        """Whether the step behind a level is what is left of a buffer that reaches about as far."""
        size_bytes = level.size_bytes or math.inf
        near_s = sum(wait for reach, wait in self.steps if STEP_WINDOW[0] < reach / size_bytes < STEP_WINDOW[1])
        return near_s > 0 and following.best - level.best < TRANSLATION_SHARE * near_s

    def notes(self) -> list[str]:
        """That they were taken off."""
        if not self.steps:
            return []
        reach, _ = max(self.steps, key=lambda step: step[1])
        return [
            f"loads wait for translations too, {self.total_s * 1e9:.1f} ns where they miss the buffers, mostly from "
            f"{size_text(reach)} on, as one line in each page shows: taken off before levels are looked for"
        ]


def waits_for(curve: Curve, pages: Curve | None) -> Waits:
    """What both walks tell; nothing where the best values are not known, or where there is too little of it."""
    if pages is None or not pages.best or not curve.best:
        return Waits()
    points = [each for each in zip(pages.size_bytes, pages.best, strict=True) if each[0] <= PAGES_IN_FIRST_CACHE_BYTES]
    waits = Waits(
        tuple(
            (math.sqrt(size * larger), slower - time) for (size, time), (larger, slower) in itertools.pairwise(points)
        )
    )
    can_be = all(
        waited(size) < best
        for of, waited in ((curve, waits.in_lines), (pages, waits.in_pages))
        for size, best in zip(of.size_bytes, of.best, strict=True)
    )
    return waits if can_be and waits.total_s >= SMALLEST_WAIT * curve.best[0] else Waits()


def less_waiting(curve: Curve, seconds: Callable[[int], float]) -> Curve:
    """The best values without what translations cost in them, which ``seconds`` tells of each size."""
    best = zip(curve.size_bytes, curve.best, strict=True)
    return replace(curve, best=tuple(value - seconds(size) for size, value in best))


def without_translation(
    levels: Sequence[MemoryLevel], pages: Curve | None, waits: Waits
) -> tuple[list[MemoryLevel], list[str], list[str]]:
    """The levels without the steps of translation buffers, a remark on each, and notes on what was taken out.

    A step that the walk over pages has as well is a translation buffer's. It fills a cache itself only at a region of
    as many times its size as a page has lines, and that rise is taken off, as what ``waits`` says is of both. What is
    left at a buffer's reach, less than half of what was taken off there, is that buffer's too.
    """
    kept: list[MemoryLevel] = []
    remarks: list[str] = []
    notes = waits.notes()
    taken_off: list[MemoryLevel] = []
    if pages and waits.steps:
        pages = less_waiting(pages, waits.in_pages)
    for level, following in itertools.pairwise(levels):
        share = _share_of_pages(level, following, [*kept, *taken_off], pages)
        if level.size_bytes and (waits.leave(level, following) or (share is not None and share >= TRANSLATION_SHARE)):
            rise = f"{level.value * 1e9:.1f} to {following.value * 1e9:.1f} ns"
            notes.append(
                f"the step at {size_text(level.size_bytes)} ({rise}) is there with one line a page as well: "
                "a translation buffer's reach, not a cache's end"
            )
            taken_off.append(level)
            continue
        remarks.append(_by_capacity(waits) if share is not None and share < CAPACITY_SHARE else "")
        kept.append(_joined([*taken_off, level]))
        taken_off = []
    return [*kept, _joined([*taken_off, levels[-1]])], [*remarks, ""], notes


def _by_capacity(waits: Waits) -> str:
    rises = "rises by no more than was taken off" if waits.steps else "does not rise there"
    return f"ends by its capacity: with one line a page the latency {rises}"


def _joined(parts: Sequence[MemoryLevel]) -> MemoryLevel:
    """One level of several plateaus: its value is the first one's, where every translation is at hand."""
    last = parts[-1]
    return replace(
        parts[0], size_bytes=last.size_bytes, size_ci=last.size_ci, last_bytes=last.last_bytes, p_value=last.p_value
    )


def _share_of_pages(
    level: MemoryLevel, following: MemoryLevel, before: Sequence[MemoryLevel], pages: Curve | None
) -> float | None:
    """How much of the step behind a level is there with one line a page; None where that cannot be told."""
    from nameplate.statistics.memory_levels import step_across, undisturbed  # noqa: PLC0415

    step = step_across(undisturbed(pages), level.size_bytes) if pages and level.size_bytes else None
    if step is None or level.size_bytes is None:
        return None
    own = 0.0
    for smaller, larger in itertools.pairwise([*before, level]):
        filled_bytes = (smaller.size_bytes or math.inf) * PAGE_BYTES / LINE_BYTES
        if STEP_WINDOW[0] < filled_bytes / level.size_bytes < STEP_WINDOW[1]:
            own += larger.best - smaller.best
    return (step[1] - step[0] - own) / (following.best - level.best)
