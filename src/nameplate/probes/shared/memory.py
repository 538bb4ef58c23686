"""Judge the size and the pages of the memory that an experiment touched, for the memory probes."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Metric, ResolvedExperiment
from nameplate.probes.shared.ceilings import memory_bandwidth
from nameplate.records.result import Rated, Result
from nameplate.records.run_record import Sample

# STREAM's rule for the size of its arrays: caches may serve a part of smaller arrays.
TIMES_LAST_LEVEL = 4
# The share of the touched memory that must be on huge pages; the ends of an array need not fill a huge page.
ENOUGH_HUGE = 0.9

# Facts of every probe with arrays in memory.
ARRAYS = ("touched_bytes", "huge_bytes", "last_level_bytes")


def is_beyond_caches(experiment: ResolvedExperiment) -> bool:
    """Return whether an experiment touched so much memory that the caches serve almost none of its accesses.

    This is STREAM's rule for the size of its arrays: ``touched_bytes`` is at least four times ``last_level_bytes``, the
    size of all last-level caches together. Both are facts of the experiment. If the system lists no cache
    (``last_level_bytes`` is 0), the result is True. Raises KeyError if the experiment lacks one of the facts; every
    probe that records ``ARRAYS`` has both.
    """
    return experiment.facts["touched_bytes"] >= TIMES_LAST_LEVEL * experiment.facts["last_level_bytes"]


def is_beyond_listed_caches(result: Result) -> bool:
    """Return ``is_beyond_caches`` for a result. Raises KeyError if the result lacks a fact in ``ARRAYS``."""
    return result.facts["touched_bytes"] >= TIMES_LAST_LEVEL * result.facts["last_level_bytes"]


def is_in_memory(result: Result) -> bool:
    """Return whether a result is surely that of memory: the system lists its caches, and the arrays are beyond them.

    Raises KeyError if the result lacks a fact in ``ARRAYS``.
    """
    return result.facts["last_level_bytes"] > 0 and is_beyond_listed_caches(result)


def remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    """Return remarks on an experiment that caches may have served, or that lacked huge pages; empty if neither is true.

    - ``may fit the caches``: the touched memory is smaller than four times all last-level caches (``is_beyond_caches``)
    - ``no huge pages`` or ``huge pages only in part``: see ``page_remarks``

    The samples are not used. Raises KeyError if the experiment lacks a fact in ``ARRAYS``.
    """
    return [*([] if is_beyond_caches(experiment) else ["may fit the caches"]), *page_remarks(experiment, samples)]


def page_remarks(experiment: ResolvedExperiment, _: Sequence[Sample]) -> list[str]:
    """Return a remark that an experiment with ``pages=huge`` did not get huge pages, or an empty list.

    The remark is ``no huge pages``, or ``huge pages only in part`` if less than 90 % of the touched memory is on huge
    pages, by the facts ``huge_bytes`` and ``touched_bytes``. Probes that use small regions on purpose have this remark
    only, and not the others of ``remarks``. The samples are not used. Raises KeyError if ``pages`` is huge and one of
    the facts is missing.
    """
    if (
        experiment.params.get("pages") != "huge"
        or experiment.facts["huge_bytes"] >= ENOUGH_HUGE * experiment.facts["touched_bytes"]
    ):
        return []
    return ["no huge pages" if experiment.facts["huge_bytes"] == 0 else "huge pages only in part"]


def rated_bandwidth(_: Metric, experiment: ResolvedExperiment, __: Sequence[Sample]) -> Rated:
    """Return the memory's theoretical bandwidth in B/s as reference value, for arrays that no cache can hold.

    For smaller arrays (see ``is_beyond_caches``) the result has no value, and the user cannot give one. If the machine
    does not reveal its memory modules (see ``memory_bandwidth``), the result has no value either, but the user can give
    one. In both cases ``source`` says why. The metric and the samples are not used.
    """
    if not is_beyond_caches(experiment):
        return Rated(None, "the arrays may fit the caches", can_be_given=False)
    return memory_bandwidth(experiment.machine)
