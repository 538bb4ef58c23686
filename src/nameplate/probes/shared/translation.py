"""Separate the cost of address translation from the cost of the caches, by a walk over one line per page.

Such a walk needs as many translations as a walk over the whole region, but only few lines of the caches. In a guest
whose host uses small pages, the TLBs hold translations of these small pages, whatever the guest's own page size is.
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
# A step belongs to a TLB if at least the first share of the step is present with one line per page, and to a cache if
# at most the second share is present.
TRANSLATION_SHARE, CAPACITY_SHARE = 0.5, 0.25
# The range around a size in which a step across it may show.
STEP_WINDOW = (0.35, 3.0)


@dataclass(frozen=True)
class Waits:
    """The time that a load waits if it misses a TLB, for each TLB.

    A step is a pair: the reach of a TLB in bytes, and the wait in seconds of a load that misses this TLB. A TLB is
    included only if its reach is less than ``PAGES_IN_FIRST_CACHE_BYTES``. Without steps, no load waits.
    """

    steps: tuple[tuple[float, float], ...] = ()

    @property
    def total_s(self) -> float:
        """Return the wait in seconds of a load that misses all TLBs; 0 without steps."""
        return sum(wait for _, wait in self.steps)

    def in_lines(self, size_bytes: int) -> float:
        """Return the mean wait in seconds of a load from a region of ``size_bytes`` all of whose lines are accessed.

        ``size_bytes`` must be above 0. The order of the accesses is random. A TLB that reaches over a part of the
        region is therefore missed by loads from the rest of the region.
        """
        return sum(wait * max(0.0, 1 - reach / size_bytes) for reach, wait in self.steps)

    def in_pages(self, size_bytes: int) -> float:
        """Return the wait in seconds of a load of the walk over one line per page of a region of ``size_bytes``.

        Every load misses a TLB whose reach is below ``size_bytes``, and no load misses the other TLBs.
        """
        return sum(wait for reach, wait in self.steps if reach < size_bytes)

    def leave(self, level: MemoryLevel, following: MemoryLevel) -> bool:
        """Return whether the step from ``level`` to ``following`` is only the remainder of subtracted waits.

        This is the case if the step is less than half of the waits that were subtracted near the end of ``level``. The
        result is False if no wait was subtracted there. Both levels are neighbours on a latency curve after
        ``less_waiting``.
        """
        size_bytes = level.size_bytes or math.inf
        near_s = sum(wait for reach, wait in self.steps if STEP_WINDOW[0] < reach / size_bytes < STEP_WINDOW[1])
        return near_s > 0 and following.best - level.best < TRANSLATION_SHARE * near_s

    def notes(self) -> list[str]:
        """Return a list with a note for a table that translation times were subtracted; empty without steps."""
        if not self.steps:
            return []
        reach, _ = max(self.steps, key=lambda step: step[1])
        return [
            f"A load that misses the TLBs waits {self.total_s * 1e9:.1f} ns longer, mostly from {size_text(reach)} "
            "on, as a walk over one line per page shows. This time was subtracted before the levels were located."
        ]


def other_pages(page_bytes: int) -> list[str]:
    """Return a list with a note that translation times were not separated from the levels; empty if they were.

    They are separated only if the kernel's page size, ``page_bytes``, is ``PAGE_BYTES``, that of the walk.
    """
    if page_bytes == PAGE_BYTES:
        return []
    return [
        f"The kernel's pages have {size_text(page_bytes)}, so the walk over one line per {size_text(PAGE_BYTES)} does "
        "not show the cost of TLB misses. A step may be the reach of a TLB."
    ]


def waits_for(curve: Curve, pages: Curve | None) -> Waits:
    """Return the waits that the walk over pages shows, if they are consistent with the walk over lines.

    ``curve`` has the latency with all lines of a region accessed, and ``pages`` the latency with one line per page. The
    result has no steps in these cases: ``pages`` is None, a curve has no best values, the waits add up to less than a
    tenth of the latency at the smallest size, or the waits exceed a measured latency.
    """
    if pages is None or not pages.best or not curve.best:
        return Waits()
    points = [
        point for point in zip(pages.size_bytes, pages.best, strict=True) if point[0] <= PAGES_IN_FIRST_CACHE_BYTES
    ]
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
    are not changed. Raises ValueError if the curve has no best values, or one does not exceed its cost.
    """
    best = zip(curve.size_bytes, curve.best, strict=True)
    return replace(curve, best=tuple(value - seconds(size) for size, value in best))


def without_translation(
    levels: Sequence[MemoryLevel], pages: Curve | None, waits: Waits
) -> tuple[list[MemoryLevel], list[str], list[str]]:
    """Return the levels without the steps of TLBs, a remark on each level, and notes on the steps that were removed.

    ``levels`` are the levels of the latency curve after ``less_waiting``, ascending and at least one. ``pages`` is the
    latency with one line per page, None if it was not measured. ``waits`` is the result of ``waits_for``. There is one
    remark for each returned level, "" for none.

    A step that the walk over pages shows as well belongs to a TLB. That walk fills a cache, too, but only at a region
    that is larger than the cache by the number of lines per page; this rise is first subtracted from the walk, and the
    waits are subtracted from both walks. A remaining step at the reach of a TLB also belongs to this TLB if it is less
    than half of the wait that was subtracted there.
    """
    corrected: list[MemoryLevel] = []
    remarks: list[str] = []
    notes = waits.notes()
    taken_off: list[MemoryLevel] = []
    if pages and waits.steps:
        pages = less_waiting(pages, waits.in_pages)
    for level, following in itertools.pairwise(levels):
        share = _share_of_pages(level, following, [*corrected, *taken_off], pages)
        if level.size_bytes and (waits.leave(level, following) or (share is not None and share >= TRANSLATION_SHARE)):
            rise = f"{level.value * 1e9:.1f} to {following.value * 1e9:.1f} ns"
            notes.append(
                f"The step at {size_text(level.size_bytes)} ({rise}) is also present with one line per page, so it is "
                "the reach of a TLB, not the end of a cache."
            )
            taken_off.append(level)
            continue
        remarks.append(_by_capacity(waits) if share is not None and share < CAPACITY_SHARE else "")
        corrected.append(_joined([*taken_off, level]))
        taken_off = []
    return [*corrected, _joined([*taken_off, levels[-1]])], [*remarks, ""], notes


def _by_capacity(waits: Waits) -> str:
    rises = "rises only by the subtracted amount" if waits.steps else "does not rise there"
    return f"is limited by its capacity: with one line per page, the latency {rises}."


def _joined(parts: Sequence[MemoryLevel]) -> MemoryLevel:
    """Return one level for adjacent plateaus. Its value is that of the first, where every translation hits a TLB."""
    last = parts[-1]
    return replace(
        parts[0], size_bytes=last.size_bytes, size_ci=last.size_ci, last_bytes=last.last_bytes, p_value=last.p_value
    )


def _share_of_pages(
    level: MemoryLevel, following: MemoryLevel, before: Sequence[MemoryLevel], pages: Curve | None
) -> float | None:
    """Return the share of the step after a level that is present with one line per page; None if it is not known."""
    from nameplate.statistics.memory_levels import step_across, undisturbed  # noqa: PLC0415

    step = step_across(undisturbed(pages), level.size_bytes) if pages and level.size_bytes else None
    if step is None or level.size_bytes is None:
        return None
    share = 0.0
    for smaller, larger in itertools.pairwise([*before, level]):
        filled_bytes = (smaller.size_bytes or math.inf) * PAGE_BYTES / LINE_BYTES
        if STEP_WINDOW[0] < filled_bytes / level.size_bytes < STEP_WINDOW[1]:
            share += larger.best - smaller.best
    return (step[1] - step[0] - share) / (following.best - level.best)
