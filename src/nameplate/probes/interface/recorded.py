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
# Parameters that the code for all probes computes with, with their minimum.
_NUMBERS: Mapping[str, float] = {"block": 1, "payload": 1, "size": 0, "threads": 1}
# A smaller divisor comes from a damaged file: no clock has such a resolution.
_MIN_DIVISOR = 1e-15


@dataclass(frozen=True)
class Recorded:
    """The required contents of a probe's records.

    - ``params``, ``facts``, ``labels``: names that an outcome must have; ``counters``: names that a sample must have.
      Facts and counters must not be negative
    - ``numbers``: optional parameters that the code of the probe computes with, each with its minimum. If the minimum
      is an int, the parameter must be a whole number. No other parameter may be a negative number
    - ``divisors``: the names in ``facts`` and ``counters`` that are used as divisors and must be above 0
    - ``unreported``: the names in ``facts`` and ``counters`` that are -1 where the system does not report them; the sum
      over a node's samples may be lower
    - ``worker_names``: the label that names the workers of each sample, separated by spaces; each of these workers must
      have done operations. "" if the workers are not checked
    - ``work``: the fields of a sample's work (bytes, flops, ops) that must be above 0
    - ``params_of_earlier_versions``: parameters that records of earlier versions lack, with the value that describes
      what these versions did; ``later_params``: the same for parameters whose default is this value
    """

    params: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    facts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
    divisors: tuple[str, ...] = ()
    unreported: tuple[str, ...] = ()
    worker_names: str = ""
    work: tuple[str, ...] = ()
    params_of_earlier_versions: Mapping[str, Value] = field(default_factory=dict)
    later_params: Mapping[str, Value] = field(default_factory=dict)

    def problem_of_outcome(self, outcome: Outcome) -> str:
        """Return what is wrong with the outcome of a measured experiment; "" if nothing is wrong.

        The parameters, facts and labels are checked. The message is the first problem, such as ``fact 'nodes' is
        missing``.
        """
        return self.problem_of_result(outcome.params, outcome.facts) or _missing("label", self.labels, outcome.labels)

    def problem_of_result(self, params: Mapping[str, Value], facts: Mapping[str, float]) -> str:
        """Return what is wrong with the parameters or facts of an experiment, as a message on the first problem, or "".

        ``params`` are complete, as an outcome records them. Parameters that are not required are checked, too (see
        ``problem_of_params``).
        """
        return (
            _missing("parameter", self.params, params)
            or self.problem_of_params(params)
            or self._wrong_number("fact", self.facts, facts)
        )

    def problem_of_params(self, params: Mapping[str, Value]) -> str:
        """Return which parameter has an impossible name or value, as a message on the first one, or "".

        A name must consist of lower-case letters, digits and underscores, and start with a letter. ``block``,
        ``payload``, ``size`` and ``threads`` must be whole numbers in every probe, and the parameters in ``numbers``
        must reach their minimum. Required parameters may be missing.
        """
        for name, value in params.items():
            if problem := _problem_of_param(name, value, self.numbers.get(name, _NUMBERS.get(name))):
                return problem
        return ""

    def problem_of_sample(self, outcome: Outcome, sample: Sample) -> str:
        """Return what is wrong with a sample, as a message on one problem, or "".

        ``outcome`` is the outcome of the sample's experiment, whose label ``worker_names`` names the workers. These
        parts are checked: the counters ``cpu_user_s`` and ``cpu_system_s``, which every sample must have, and the names
        in ``counters``; the work; the workers; and, if it is present, ``burst_s`` in ``disturbed``, the clock of the
        control loop.
        """
        problem = self._wrong_number("counter", tuple(self._least), sample.counters)
        if sample.disturbed.get("burst_s", 1.0) < _MIN_DIVISOR:
            return f"disturbed: 'burst_s' is {sample.disturbed['burst_s']:g}; it must be above 0"
        for name in self.work:
            if getattr(sample.work, name) == 0:
                return f"work: '{name}' is 0; it must be above 0"
        return problem or (self._problem_of_workers(outcome, sample) if self.worker_names else "")

    def are_plainly_valid(self, samples: Sequence[Sample]) -> bool:
        """Return whether all samples pass all checks, as a fast test; False if samples need a closer look.

        The result is False if the probe's workers are checked or a sample is of several nodes. ``problem_of_sample``
        takes longer, and says what is wrong with a sample.
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
        """Return the lowest valid value of each counter, by name."""
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

    def _wrong_number(self, kind: str, names: tuple[str, ...], numbers: Mapping[str, float]) -> str:
        if missing := _missing(kind, names, numbers):
            return missing
        for name in names:
            if numbers[name] < 0 and name not in self.unreported:
                return f"{kind} '{name}' is {numbers[name]:g}; it must not be negative"
            if name in self.divisors and numbers[name] < _MIN_DIVISOR:
                return f"{kind} '{name}' is {numbers[name]:g}; it must be above 0"
        return ""


# Many records have the same parameters. The cache distinguishes 1 from 1.0, which is not a whole number.
@lru_cache(maxsize=4096, typed=True)
def _problem_of_param(name: str, value: Value, minimum: float | None) -> str:
    if not _PARAMETER.fullmatch(name):
        return f"'{name:.40}' is not a parameter name"
    if isinstance(minimum, int) and not isinstance(value, int):
        return f"parameter '{name}' is {value!r:.40}; it must be a whole number"
    if isinstance(value, str):
        return "" if minimum is None else f"parameter '{name}' is {value!r:.40}; it must be a number"
    return f"parameter '{name}' is {value}; the minimum is {minimum or 0:g}" if value < (minimum or 0) else ""


def _missing(kind: str, names: tuple[str, ...], present: Mapping[str, object]) -> str:
    for name in names:
        if name not in present:
            return f"{kind} '{name}' is missing"
    return ""
