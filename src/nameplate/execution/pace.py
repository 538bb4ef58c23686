"""Divide the rest of a budget among the remaining experiments of a run.

The probes estimate the time that an experiment takes in addition to its slice. These estimates are corrected by the
times observed so far: on a slow disk the remaining slices become shorter.
"""

from __future__ import annotations

from collections import defaultdict

from nameplate.planning.budget import full_slice_s, min_slice_s, overhead_s, slice_between_s, turns_of
from nameplate.records.plan_record import Experiment, Limits

# The weight of a probe's estimate, as the equivalent of an observation over this time.
TRUST_IN_ESTIMATE_S = 0.2


class Pace:
    """Divides the time that is left of a run among its remaining experiments.

    The overhead of an experiment is the time that it takes in addition to its slice. The probe's estimate of the
    overhead is corrected by the times observed so far.
    """

    def __init__(self, limits: Limits, turns: int = 1) -> None:
        """Start without experiments, which ``expect`` adds.

        ``limits`` are the limits of the plan. ``turns`` is the number of nodes that measure a single-machine experiment
        one after another: 1 if the run is not measured per node, or if all nodes measure at once.
        """
        self._limits = limits
        self._turns = turns
        self._rounds: dict[str, int] = defaultdict(int)
        self._min_s = 0.0
        self._span_s = 0.0
        self._overhead_s: dict[str, float] = defaultdict(float)
        self._estimated_s: dict[str, float] = defaultdict(float)
        self._observed_s: dict[str, float] = defaultdict(float)

    def expect(self, experiment: Experiment, rounds: int) -> None:
        """Set the number of further rounds in which an experiment is to be measured.

        A later call for the same ``experiment.id`` replaces the number. ``rounds`` 0 means that the experiment is no
        longer measured.
        """
        more = (rounds - self._rounds[experiment.id]) * turns_of(experiment, self._turns)
        self._rounds[experiment.id] = rounds
        min_s = min_slice_s(experiment, self._limits)
        self._min_s += more * min_s
        self._span_s += more * (full_slice_s(experiment, self._limits) - min_s)
        self._overhead_s[experiment.probe] += more * overhead_s(experiment, self._limits)

    def note(self, experiment: Experiment, slice_s: float, taken_s: float) -> None:
        """Correct the estimated overhead of a probe by the time of one of its experiments, which has ended.

        ``slice_s`` is the slice with which ``experiment`` was measured, and ``taken_s`` the total time that it took on
        all nodes, both in seconds. The number of further rounds, set by ``expect``, does not change.
        """
        turns = turns_of(experiment, self._turns)
        self._estimated_s[experiment.probe] += turns * overhead_s(experiment, self._limits)
        self._observed_s[experiment.probe] += max(0.0, taken_s - turns * slice_s)

    def has_seen(self, probe: str) -> bool:
        """Return whether ``note`` was called for an experiment of the probe with this name, such as ``cpu_flops``."""
        return probe in self._observed_s

    def slice_s(self, experiment: Experiment, left_s: float) -> float:
        """Return the slice of ``experiment`` in seconds, so that all remaining experiments end in ``left_s`` seconds.

        The remaining experiments are those passed to ``expect``, in the number of rounds set there. The slices of all
        of them are shortened to the same fraction of the range between their minimum and their full slice
        (``planning/budget.py``); the slice of a series is rounded down to whole intervals. If ``left_s`` is too short
        even for minimum slices, or negative, the result is the minimum slice; if no experiment remains, it is the full
        slice.
        """
        free_s = left_s - self._min_s - self._total_overhead_s()
        share = min(1.0, max(0.0, free_s / self._span_s)) if self._span_s > 0 else 1.0
        return slice_between_s(experiment, self._limits, share)

    def takes_s(self, experiment: Experiment, slice_s: float) -> float:
        """Return the expected time in seconds that an experiment takes in one round with the slice ``slice_s``.

        The time includes the overhead. If nodes measure one after another, it is the sum over all nodes.
        """
        total_s = slice_s + overhead_s(experiment, self._limits) * self._correction(experiment.probe)
        return turns_of(experiment, self._turns) * total_s

    def rest_s(self) -> float:
        """Return the expected time in seconds of all rounds set by ``expect``, with full slices and overhead.

        It is 0 if no experiment remains.
        """
        return self._min_s + self._span_s + self._total_overhead_s()

    def _total_overhead_s(self) -> float:
        return sum(seconds * self._correction(probe) for probe, seconds in self._overhead_s.items())

    def _correction(self, probe: str) -> float:
        return (TRUST_IN_ESTIMATE_S + self._observed_s[probe]) / (TRUST_IN_ESTIMATE_S + self._estimated_s[probe])
