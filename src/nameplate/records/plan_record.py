"""A plan as run files have it: the experiments, and the limits of the run.

Units are SI base units and part of the field's name. The value of a parameter is a string, a whole number (of threads
or bytes, for example) or a time in seconds.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from nameplate.records.numbers import Count, Elapsed, Int64, Real, Seconds

Value: TypeAlias = str | Int64 | Real
Variant: TypeAlias = Literal["", "a", "b"]
PerNode: TypeAlias = Literal["", "in-turn", "at-once"]


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One probe with one set of parameters; ``id`` is unique in its plan.

    A parameter that is missing in ``params`` has the probe's default. ``slice_s`` is the time in seconds for which
    samples are taken in each round, and ``sample_s`` the minimum length of a sample unless ``Limits.sample_s`` is set;
    None means 10 ms. A ``dense`` experiment is a point of a curve that is measured only if the sparse points around it
    show a change there. With ``interval_s`` the experiment is a series: one round, with one sample per interval of its
    slice; None means no series. ``overhead_s`` is the estimated time in a round in addition to the slice; None means
    the probe's estimate. ``variant`` is "a" or "b" in a plan of ``nameplate ab``, otherwise "". The constructor checks
    nothing.
    """

    id: str
    probe: str
    params: dict[str, Value]
    slice_s: Seconds = 0.25
    sample_s: Seconds | None = None
    dense: bool = False
    interval_s: Elapsed | None = None
    overhead_s: Seconds | None = None
    variant: Variant = ""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a run and of its samples.

    The constructor checks nothing. Reading a run file checks only that each value is in the range of its type;
    ``make_limits`` rejects the other impossible values.

    - ``budget_s``: the time in seconds for the whole run
    - ``precision``: a share (0.02 is 2 %). Without fixed rounds, an experiment ends when half the width of its median's
      95 % interval is at most this share of the median, but not before six rounds.
    - ``rounds``: the fixed number of rounds of each experiment, 1 or more; with None, precision and budget decide
    - ``samples``: the maximum number of samples of an experiment in a round; None for no limit
    - ``sample_s``: the minimum length of a sample in seconds; None uses ``Experiment.sample_s``
    - ``warmup_s``: the minimum time of the warm-up in seconds before the first sample of a round
    - ``series_s``, ``interval_s``: if set, each experiment is a series of ``series_s`` seconds in each round, with one
      sample per ``interval_s`` seconds. Set both or neither, with ``interval_s`` at most ``series_s``; set ``rounds``
      to 1 for a single series.
    - ``budget_binds``: whether slices (but not ``series_s``) are shortened so that all ``rounds`` end within the
      budget, and the run ends when the budget is spent. Without fixed rounds the budget always ends the run.
    - ``detect``: a share (0.05 is 5 %). Each experiment is measured until it has a verdict: SAME within this share, or
      changed (``run --against``, ``ab``). None for a run that is not compared while it is measured.
    """

    budget_s: Seconds
    precision: Real
    rounds: Count | None = None
    samples: Count | None = None
    sample_s: Seconds | None = None
    warmup_s: Seconds = 0.02
    series_s: Seconds | None = None
    interval_s: Elapsed | None = None
    budget_binds: bool = False
    detect: Real | None = None


class ReferenceWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference tool, with the parameters that a plan sets for it.

    ``tool`` is the name of the tool. ``params`` maps the name of each parameter to its value, as text from the plan
    file.
    """

    tool: str
    params: dict[str, str]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The experiments and limits of a run.

    ``name`` is the name of the plan, or of the probe if the plan was made for a single probe. ``notes`` are sentences
    about experiments that were left out or shortened to fit the budget. ``references`` are the names of reference tools
    that are run with their default parameters if they are installed; ``reference_works`` are reference tools whose
    parameters the plan sets. ``per_node`` says how the nodes of a job run single-machine experiments by default: one
    node at a time ("in-turn"), all at once ("at-once"), or not per node (""). ``priority`` is "high" if the plan
    requests a high scheduling priority, otherwise "".
    """

    name: str
    experiments: list[Experiment]
    limits: Limits
    notes: list[str] = []
    references: list[str] = []
    per_node: PerNode = ""
    priority: Literal["", "high"] = ""
    reference_works: list[ReferenceWork] = []
