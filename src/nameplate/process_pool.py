"""Call a function for many items in batches, by several processes if the system allows them."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from nameplate.process import end_with

Item = TypeVar("Item")
Returned = TypeVar("Returned")

# With this number of batches, several processes are faster despite their start-up, which takes a second.
MIN_BATCHES = 4


def map_batches(
    function: Callable[[Sequence[Item]], Returned], items: Sequence[Item], batch_size: int
) -> Iterator[Returned]:  # fmt: skip
    """Yield ``function(batch)`` for each batch of up to ``batch_size`` consecutive items, in their order.

    Four or more batches (``MIN_BATCHES``) are computed by one process per usable CPU; the function, the items and the
    results must then be picklable. Without shared memory (/dev/shm), or without descriptors or processes left, this
    process computes the remaining results. The processes end with this one, even if it is killed; Ctrl-C is left to it.
    """
    batches = [items[start : start + batch_size] for start in range(0, len(items), batch_size)]
    if len(batches) < MIN_BATCHES:
        yield from map(function, batches)
        return
    done = 0
    try:
        # Processes are spawned: threads of libraries would not survive a fork.
        with ProcessPoolExecutor(
            len(os.sched_getaffinity(0)), get_context("spawn"), initializer=_prepare_process, initargs=(os.getpid(),)
        ) as pool:
            for returned in pool.map(function, batches):
                done += 1
                yield returned
    except (OSError, BrokenProcessPool):
        yield from map(function, batches[done:])


def _prepare_process(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the garbage collector from searching records, which have no cycles: it took a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
