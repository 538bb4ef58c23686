"""Separate the cost of address translation from that of the caches, by a walk over one line per page.

Such a walk needs as many translations as the whole region, but few lines of the caches. In a guest whose host uses
small pages, the translation buffers hold those, whatever the guest's own page size is.
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
# One line per page of a region of this size fits the smallest first-level cache, so the walk waits only for
# translations.
PAGES_IN_FIRST_CACHE_BYTES = 1 << 20
# A smaller share of a load's time is noise and is not subtracted.
SMALLEST_WAIT = 0.1
# A step belongs to a translation buffer if at least the first share of it is present with one line per page; it belongs
# to a cache if at most the second share is.
TRANSLATION_SHARE, CAPACITY_SHARE = 0.5, 0.25
# The range around a size in which a step across it may show.
STEP_WINDOW = (0.35, 3.0)


@dataclass(frozen=True)
class Waits:
    """The time that a load waits if it misses a translation buffer, for each buffer.

    A step is a pair: the reach of a buffer in bytes, and the wait in seconds of a load that misses it. Only buffers are
    included that reach over less than the pages that fit the first cache with one line each. Without steps, nothing
    waits.
    """

    steps: tuple[tuple[float, float], ...] = ()

    @property
    def total_s(self) -> float:
        """Return the wait in seconds of a load that misses all buffers; 0 without steps."""
        return sum(wait for _, wait in self.steps)

    def in_lines(self, size_bytes: int) -> float:
        """Return the mean wait in seconds of a load from a region of ``size_bytes`` all of whose lines are accessed.

        ``size_bytes`` is above 0. The order is random, so a buffer that covers a part of the region is missed by loads
        from the other part.
        """
        return sum(wait * max(0.0, 1 - reach / size_bytes) for reach, wait in self.steps)

    def in_pages(self, size_bytes: int) -> float:
        """Return the wait in seconds of a load of the walk over one line per page of a region of ``size_bytes``.

        Such a load misses a buffer always, if the buffer's reach is below the size of the region, or never.
        """
        return sum(wait for reach, wait in self.steps if reach < size_bytes)

    def leave(self, level: MemoryLevel, following: MemoryLevel) -> bool:
        """Return whether the step from ``level`` to the next one is the remainder of a buffer of similar reach.

        It is one if the step is less than half of the waits that were subtracted near the end of ``level``; it is none
        if no wait was subtracted there. ``following`` is the next level. Both are levels of a latency curve after
        ``less_waiting``.
        """
        size_bytes = level.size_bytes or math.inf
        near_s = sum(wait for reach, wait in self.steps if STEP_WINDOW[0] < reach / size_bytes < STEP_WINDOW[1])
        return near_s > 0 and following.best - level.best < TRANSLATION_SHARE * near_s

    def notes(self) -> list[str]:
        """Return a list with one note for a table that translation times were subtracted; empty if none were."""
        if not self.steps:
            return []
        reach, _ = max(self.steps, key=lambda step: step[1])
        return [
            f"Loads also wait for translations, {self.total_s * 1e9:.1f} ns if they miss the buffers, mostly from "
            f"{size_text(reach)}, as a walk over one line per page shows. This time was subtracted before the levels "
            "were searched for."
        ]


def other_pages(page_bytes: int) -> list[str]:
    """Return a list with one note that translation times stay in the levels; empty if they are separated.

    They are separated only if the kernel's page, of ``page_bytes``, is that of the walk.
    """
    if page_bytes == PAGE_BYTES:
        return []
    return [
        f"The kernel's pages have {size_text(page_bytes)}, so the walk over one line per {size_text(PAGE_BYTES)} does "
        "not show the cost of translations. A step may be the reach of a translation buffer."
    ]


def waits_for(curve: Curve, pages: Curve | None) -> Waits:
    """Return the waits that the walk over pages shows, and that the other walk allows.

    ``curve`` has the latency with all lines of a region accessed, ``pages`` with one line per page. The result has no
    steps if ``pages`` is None, a curve has no best values, or the waits add up to less than a tenth of the latency at
    the smallest size, or would exceed a measured latency.
    """
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
    """Return the curve with the cost of translations subtracted from its best values.

    ``seconds`` returns the cost in seconds for a size in bytes, such as ``Waits.in_lines``. The values of the rounds
    stay. The curve must have best values, all of which exceed their cost, or ValueError is raised.
    """
    best = zip(curve.size_bytes, curve.best, strict=True)
    return replace(curve, best=tuple(value - seconds(size) for size, value in best))


def without_translation(
    levels: Sequence[MemoryLevel], pages: Curve | None, waits: Waits
) -> tuple[list[MemoryLevel], list[str], list[str]]:
    """Return the levels without the steps of translation buffers, a remark on each, and notes on what was removed.

    ``levels`` are those of the latency curve after ``less_waiting``, ascending and at least one. ``pages`` is the
    latency with one line per page, None if it was not measured. There is one remark for each returned level, "" for
    none.

    A step that the walk over pages has as well is a translation buffer's. Such a walk fills a cache itself only at a
    region larger than the cache by the number of lines per page; that rise is subtracted from the walk, and what
    ``waits`` says is subtracted from both. A remaining step at a buffer's reach, if it is less than half of what was
    subtracted there, also belongs to that buffer.
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
                f"The step at {size_text(level.size_bytes)} ({rise}) is also present with one line per page, so it is "
                "the reach of a translation buffer, not the end of a cache."
            )
            taken_off.append(level)
            continue
        remarks.append(_by_capacity(waits) if share is not None and share < CAPACITY_SHARE else "")
        kept.append(_joined([*taken_off, level]))
        taken_off = []
    return [*kept, _joined([*taken_off, levels[-1]])], [*remarks, ""], notes


def _by_capacity(waits: Waits) -> str:
    rises = "rises only by the subtracted amount" if waits.steps else "does not rise there"
    return f"is limited by its capacity: with one line per page, the latency {rises}."


def _joined(parts: Sequence[MemoryLevel]) -> MemoryLevel:
    """Return one level for several plateaus; its value is the first one's, where every translation hits."""
    last = parts[-1]
    return replace(
        parts[0], size_bytes=last.size_bytes, size_ci=last.size_ci, last_bytes=last.last_bytes, p_value=last.p_value
    )


def _share_of_pages(
    level: MemoryLevel, following: MemoryLevel, before: Sequence[MemoryLevel], pages: Curve | None
) -> float | None:
    """Return the share of the step after a level that is present with one line per page; None if it cannot be told."""
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
