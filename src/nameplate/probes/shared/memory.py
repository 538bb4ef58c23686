"""Code that the memory probes use."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Metric, ResolvedExperiment
from nameplate.probes.shared.ceilings import memory_bandwidth
from nameplate.records.result import Rated, Result
from nameplate.records.run_record import Sample

# STREAM's rule for its arrays: the caches may serve part of anything smaller.
TIMES_LAST_LEVEL = 4
# Of the memory asked for: the ends of an array need not fill a huge page.
ENOUGH_HUGE = 0.9

# Facts of every probe with arrays in memory.
ARRAYS = ("touched_bytes", "huge_bytes", "last_level_bytes")


def is_beyond_caches(experiment: ResolvedExperiment) -> bool:
    """Return whether the touched memory is so large that the caches serve almost none of it.

    By STREAM's rule for its arrays, the fact ``touched_bytes`` is then at least four times ``last_level_bytes``, the
    size of all last-level caches together. If the system lists no cache (0), the result is True. The experiment must
    have both facts, as those of probes that record ``ARRAYS`` have; otherwise KeyError is raised.
    """
    return experiment.facts["touched_bytes"] >= TIMES_LAST_LEVEL * experiment.facts["last_level_bytes"]


def is_beyond_listed_caches(result: Result) -> bool:
    """Return ``is_beyond_caches`` for a result, whose facts must be those of probes that record ``ARRAYS``."""
    return result.facts["touched_bytes"] >= TIMES_LAST_LEVEL * result.facts["last_level_bytes"]


def remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    """Return remarks that caches may have served an experiment, and that it lacked huge pages, as far as they apply.

    The experiment must have the facts in ``ARRAYS``. The list is empty if none applies. The samples are not used.
    """
    return [*([] if is_beyond_caches(experiment) else ["may fit the caches"]), *page_remarks(experiment, samples)]


def page_remarks(experiment: ResolvedExperiment, _: Sequence[Sample]) -> list[str]:
    """Return a remark that an experiment lacked huge pages, in whole or in part, or an empty list.

    It has the remark if it asked for them (``pages=huge``) and got less than ``ENOUGH_HUGE`` of its memory on them: the
    facts ``huge_bytes`` and ``touched_bytes``, which it must then have. It is the last part of ``remarks``, for probes
    that use small regions on purpose. The samples are not used.
    """
    if (
        experiment.params.get("pages") != "huge"
        or experiment.facts["huge_bytes"] >= ENOUGH_HUGE * experiment.facts["touched_bytes"]
    ):
        return []
    return ["no huge pages" if experiment.facts["huge_bytes"] == 0 else "huge pages only in part"]


def rated_bandwidth(_: Metric, experiment: ResolvedExperiment, __: Sequence[Sample]) -> Rated:
    """Return the memory's theoretical bandwidth in B/s as reference value, for arrays that no cache can hold.

    For smaller arrays (see ``is_beyond_caches``, whose facts are read) the result has no value, and none can be given.
    It also has none, but one can be given, if the machine does not reveal its memory modules (``memory_bandwidth``).
    Its source then says why. Metric and samples are not used, since every metric has the same one.
    """
    if not is_beyond_caches(experiment):
        return Rated(None, "the arrays may fit the caches", can_be_given=False)
    return memory_bandwidth(experiment.machine)
