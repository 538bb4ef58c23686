"""A plan as run files have it: the experiments, and the limits of the run.

Units are SI base units and part of the field's name. The value of a parameter is a word, a count (of bytes, too) or a
time in seconds.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from nameplate.records.numbers import Count, Elapsed, Real, Seconds, Whole

Value: TypeAlias = str | Whole | Real
Variant: TypeAlias = Literal["", "a", "b"]
PerNode: TypeAlias = Literal["", "in-turn", "at-once"]


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One probe with one set of parameters; ``id`` is unique in its plan.

    ``params`` may lack parameters, which then have the probe's defaults. ``slice_s`` is the time of its samples in each
    round, and ``sample_s`` the minimum length of a sample unless the run sets one; None means the usual 10 ms. A
    ``dense`` experiment is a point of a curve that is measured only if the sparse points around it show a change there.
    With ``interval_s`` it is a series: one round, with one sample per interval of its slice; None means no series.
    ``overhead_s`` is the estimated time besides the slice in a round; None means that of the probe. The constructor
    checks nothing. ``variant`` says which of the two variants of ``nameplate ab`` it is; in other plans it is "".
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

    - ``budget_s``: the time for the whole run
    - ``precision``: a share. Without fixed rounds, an experiment ends once half of its median's 95 % interval is at
      most this share of the median, but not before six rounds.
    - ``rounds``: the fixed number of rounds of each experiment, 1 or more; with None, precision and budget decide
    - ``samples``: the highest number of samples of an experiment in a round; None for no limit
    - ``sample_s``: the minimum length of a sample; None for that of the experiment
    - ``warmup_s``: the minimum time of the warm-up before the first sample of a round
    - ``series_s``, ``interval_s``: if set, each experiment is a series of this length in each round, with one sample
      per interval. Set both or neither, the interval at most the length, and ``rounds`` to 1 for a single series. None
      of this is checked.
    - ``budget_binds``: all ``rounds`` must end within the budget, so that slices are shortened (but not ``series_s``),
      and the run ends with it. Without fixed rounds the budget always ends the run.
    - ``detect``: a share. Each experiment is measured until it has a verdict: the same within this share, or changed
      (``run --against``, ``ab``). None for runs that are not compared while they are measured
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
    """A reference tool by name, with the parameters of its work that a plan sets.

    ``params`` maps the name of each parameter to its value as text, as the plan file has it.
    """

    tool: str
    params: dict[str, str]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The experiments and limits of a run.

    A plan for a single probe has the probe's name. ``notes`` say what was left out or shortened to fit the budget.
    ``references`` are the names of reference tools that are run with their default work if they are installed,
    ``reference_works`` those for which the plan sets the work. ``per_node`` says how the nodes of a job run
    single-machine experiments by default: one node at a time ("in-turn"), all at once ("at-once"), or not per node
    (""). ``priority`` is "high" if the plan requests a high scheduling priority, otherwise "".
    """

    name: str
    experiments: list[Experiment]
    limits: Limits
    notes: list[str] = []
    references: list[str] = []
    per_node: PerNode = ""
    priority: Literal["", "high"] = ""
    reference_works: list[ReferenceWork] = []
