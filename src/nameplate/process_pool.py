"""Call a function for many arguments in several processes, if the system allows them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

Argument = TypeVar("Argument")
Returned = TypeVar("Returned")


def map_in_processes(function: Callable[[Argument], Returned], arguments: Sequence[Argument]) -> Iterator[Returned]:
    """Yield ``function(argument)`` for each argument, in their order, computed by one process per usable CPU.

    ``function``, its arguments and its results must be picklable. Processes take a second to start. Without shared
    memory (/dev/shm), or without descriptors or processes left, this process computes the remaining results.
    """
    done = 0
    try:
        # Processes are spawned: threads of libraries would not survive a fork.
        with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
            for returned in pool.map(function, arguments):
                done += 1
                yield returned
    except (OSError, BrokenProcessPool):
        yield from map(function, arguments[done:])
