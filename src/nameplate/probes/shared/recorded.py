"""Describe the names and numbers that a probe's records must contain for metrics, reference values and tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from nameplate.records.plan_record import Value
from nameplate.records.run_record import Outcome, Sample

# No command-line option starts like this; names appear in the commands that a report suggests.
_PARAMETER = re.compile(r"[a-z][a-z0-9_]*")
# Numeric parameters with their minimum; they mean the same in every probe.
_MIN_VALUES: Mapping[str, float] = {
    "align": 1, "block": 1, "chains": 1, "connections": 1, "count": 1, "depth": 1, "duration": 0, "lda": 1, "load": 0,
    "load_threads": 0, "memory_node": 0, "mss": 1, "n": 1, "node": 0, "pairs": 1, "passes": 1, "payload": 1,
    "ranks_per_node": 1, "rate": 1, "repeats": 1, "seed": 0, "size": 0, "stride": 1, "threads": 1, "trials": 1,
    "window": 1,
}  # fmt: skip
# The only parameter that is not a whole number.
_SECONDS = "duration"
# A smaller divisor comes from a damaged file: no clock has such a resolution.
_MIN_DIVISOR = 1e-15


@dataclass(frozen=True)
class Recorded:
    """The required contents of a probe's records.

    - ``params``, ``facts`` and ``labels`` of an outcome, ``counters`` of a sample: required names. Facts and counters
      must not be negative
    - ``worker_names``: the label that names the workers of each sample, separated by spaces, all of which must have
      done operations; "" if the workers are not checked
    - ``work``: fields of a sample's work (bytes, flops, ops) that must be above zero
    - ``divisors``: those of ``facts`` and ``counters`` that are used as divisors and must be above zero
    - ``params_of_earlier_versions``: parameters that records of earlier versions do not have, with the value that
      describes what these versions did
    - ``unreported``: those of ``facts`` and ``counters`` that are -1 where the system does not report them; the sum
      over a node's samples may be lower
    """

    params: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    divisors: tuple[str, ...] = ()
    unreported: tuple[str, ...] = ()
    worker_names: str = ""
    work: tuple[str, ...] = ()
    params_of_earlier_versions: Mapping[str, Value] = field(default_factory=dict)

    def problem_of_outcome(self, outcome: Outcome) -> str:
        """Return what is wrong with the outcome of a measured experiment; "" if nothing is.

        The message is the first problem found, such as ``fact 'nodes' is missing``. Parameters, facts and labels are
        checked.
        """
        return self.problem_of_result(outcome.params, outcome.facts) or _missing("label", self.labels, outcome.labels)

    def problem_of_result(self, params: Mapping[str, Value], facts: Mapping[str, float]) -> str:
        """Return what is wrong with the parameters and facts of an experiment, as a message on one problem, or "".

        ``params`` are complete, as recorded. Those that are not required are checked by ``problem_of_params``.
        """
        return (
            _missing("parameter", self.params, params)
            or problem_of_params(params)
            or self._wrong_number("fact", self.facts, facts)
        )

    def problem_of_sample(self, outcome: Outcome, sample: Sample) -> str:
        """Return what is wrong with a sample, as a message on one problem; "" if nothing is.

        ``outcome`` is that of the sample's experiment; its labels name the workers. Counters (``cpu_user_s`` and
        ``cpu_system_s``, which every sample must have, and ``counters``), work, workers and the clock of the control
        loop (``burst_s`` in ``disturbed``, if present) are checked.
        """
        problem = self._wrong_number("counter", tuple(self._least), sample.counters)
        if sample.disturbed.get("burst_s", 1.0) < _MIN_DIVISOR:
            return f"disturbed: 'burst_s' is {sample.disturbed['burst_s']:g}; it must be above 0"
        for name in self.work:
            if getattr(sample.work, name) == 0:
                return f"work: '{name}' is 0; it must be above 0"
        return problem or (self._problem_of_workers(outcome, sample) if self.worker_names else "")

    def are_plainly_valid(self, samples: Sequence[Sample]) -> bool:
        """Return whether samples that have no workers to check, and no nodes, pass all checks.

        ``problem_of_sample`` says what is wrong with a sample, but takes longer.
        """
        if self.worker_names:
            return False
        least = self._least.items()
        for sample in samples:
            is_of_nodes = isinstance(sample.node, int) or isinstance(sample.nodes, list)
            if is_of_nodes or sample.disturbed.get("burst_s", 1.0) < _MIN_DIVISOR:
                return False
            counters = sample.counters
            for name, minimum in least:
                value = counters.get(name)
                if value is None or value < minimum:
                    return False
            for name in self.work:
                if getattr(sample.work, name) == 0:
                    return False
        return True

    @cached_property
    def _least(self) -> dict[str, float]:
        """Return the least possible value of each counter."""
        names = ("cpu_user_s", "cpu_system_s", *self.counters)
        return {
            name: _MIN_DIVISOR if name in self.divisors else -math.inf if name in self.unreported else 0.0
            for name in names
        }

    def _problem_of_workers(self, outcome: Outcome, sample: Sample) -> str:
        names, workers = outcome.labels.get(self.worker_names, "").split(), sample.workers or []
        if len(workers) < len(names):
            return f"{len(workers)} workers, but label '{self.worker_names}' names {len(names)}"
        return "a worker did no operations" if not all(worker.work.ops for worker in workers) else ""

    def _wrong_number(self, what: str, names: tuple[str, ...], numbers: Mapping[str, float]) -> str:
        if missing := _missing(what, names, numbers):
            return missing
        for name in names:
            if numbers[name] < 0 and name not in self.unreported:
                return f"{what} '{name}' is {numbers[name]:g}; it must not be negative"
            if name in self.divisors and numbers[name] < _MIN_DIVISOR:
                return f"{what} '{name}' is {numbers[name]:g}; it must be above 0"
        return ""


def problem_of_params(params: Mapping[str, Value]) -> str:
    """Return which parameter has an impossible name or value, as a message on the first one; "" if none has.

    A name must consist of lower-case letters, digits and underscores, and start with a letter. Numbers that mean the
    same in every probe, such as ``size`` and ``threads``, must be whole (except ``duration``) and not below their
    minimum, 0 or 1. Other parameters may have any value.
    """
    for name, value in params.items():
        if problem := _problem_of_param(name, value):
            return problem
    return ""


# Many records have the same parameters. The cache tells 1 from 1.0, which is no whole number.
@lru_cache(maxsize=4096, typed=True)
def _problem_of_param(name: str, value: Value) -> str:
    minimum = _MIN_VALUES.get(name)
    if minimum is None:
        return "" if _PARAMETER.fullmatch(name) else f"'{name:.40}' is not a parameter name"
    kind = "number" if name == _SECONDS else "whole number"
    if isinstance(value, str) or (isinstance(value, float) and name != _SECONDS):
        return f"parameter '{name}' is {value!r:.40}; it must be a {kind}"
    return f"parameter '{name}' is {value}; the minimum is {minimum:g}" if value < minimum else ""


def _missing(what: str, names: tuple[str, ...], found: Mapping[str, object]) -> str:
    for name in names:
        if name not in found:
            return f"{what} '{name}' is missing"
    return ""
