"""Divide the rest of a budget among the remaining experiments of a run.

The probes estimate the time that an experiment takes besides its slice. These estimates are corrected by the times
observed so far: on a slow disk the remaining slices become shorter.
"""

from __future__ import annotations

from collections import defaultdict

from nameplate.planning.budget import full_slice_s, min_slice_s, overhead_s, slice_between_s, turns_of
from nameplate.records.model import Experiment, Limits

# The weight of a probe's estimate, as the equivalent of an observation over this time.
TRUST_IN_ESTIMATE_S = 0.2


class Pace:
    """Computes the slices of the remaining experiments from the time left."""

    def __init__(self, limits: Limits, turns: int = 1) -> None:
        """Start without experiments. ``turns`` is the number of nodes that measure an experiment one after another."""
        self._limits = limits
        self._turns = turns
        self._rounds: dict[str, int] = defaultdict(int)
        self._min_s = 0.0
        self._span_s = 0.0
        self._overhead_s: dict[str, float] = defaultdict(float)
        self._estimated_s: dict[str, float] = defaultdict(float)
        self._observed_s: dict[str, float] = defaultdict(float)

    def expect(self, experiment: Experiment, rounds: int) -> None:
        """Set the number of further rounds in which an experiment is to be measured."""
        more = (rounds - self._rounds[experiment.id]) * turns_of(experiment, self._turns)
        self._rounds[experiment.id] = rounds
        min_s = min_slice_s(experiment, self._limits)
        self._min_s += more * min_s
        self._span_s += more * (full_slice_s(experiment, self._limits) - min_s)
        self._overhead_s[experiment.probe] += more * overhead_s(experiment, self._limits)

    def note(self, experiment: Experiment, slice_s: float, taken_s: float) -> None:
        """Correct the estimates by an experiment that took ``taken_s`` seconds in all with a slice of ``slice_s``."""
        turns = turns_of(experiment, self._turns)
        self._estimated_s[experiment.probe] += turns * overhead_s(experiment, self._limits)
        self._observed_s[experiment.probe] += max(0.0, taken_s - turns * slice_s)

    def has_seen(self, probe: str) -> bool:
        """Return whether the time of an experiment of this probe has been noted."""
        return probe in self._observed_s

    def slice_s(self, experiment: Experiment, left_s: float) -> float:
        """Return the slice, between minimum and full, with which all remaining experiments end within ``left_s``."""
        free_s = left_s - self._min_s - self._total_overhead_s()
        share = min(1.0, max(0.0, free_s / self._span_s)) if self._span_s > 0 else 1.0
        return slice_between_s(experiment, self._limits, share)

    def takes_s(self, experiment: Experiment, slice_s: float) -> float:
        """Return the expected time of an experiment with this slice, in seconds."""
        total_s = slice_s + overhead_s(experiment, self._limits) * self._correction(experiment.probe)
        return turns_of(experiment, self._turns) * total_s

    def rest_s(self) -> float:
        """Return the expected time of all remaining experiments with full slices, in seconds."""
        return self._min_s + self._span_s + self._total_overhead_s()

    def _total_overhead_s(self) -> float:
        return sum(seconds * self._correction(probe) for probe, seconds in self._overhead_s.items())

    def _correction(self, probe: str) -> float:
        return (TRUST_IN_ESTIMATE_S + self._observed_s[probe]) / (TRUST_IN_ESTIMATE_S + self._estimated_s[probe])
