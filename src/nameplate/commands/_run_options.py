"""Declare the options of ``nameplate run``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.commands._against import BaselineComparison, against_of
from nameplate.commands._docstrings import reflowed
from nameplate.execution.launch import Launch, alone, launch_with
from nameplate.execution.measuring import core_options
from nameplate.planning.plan_file import LIMIT_KEYS

Option = Annotated[str | None, Parameter(show_default=False)]


@Parameter(name="*")
@reflowed
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of ``nameplate run`` as given; None means not given.

    Parameters
    ----------
    budget
        The maximum duration of the whole run, such as 60s or 10min. With fixed rounds, slices are shortened so that all
        rounds fit, and a budget that is too short for them is rejected.
    precision
        Stop measuring an experiment when its 95 % interval is within ± this percentage of the value, such as 2%.
    rounds
        Take exactly this number of rounds, whatever the precision. The budget applies only if it is given as well.
    samples
        The maximum number of samples of an experiment in a round.
    time
        The duration of one sample, such as 10s.
    warmup
        The time that each experiment runs before its first sample, such as 1s.
    series
        Take one sample per interval without a gap: DURATION/INTERVAL, such as 600s/1s.
    read_device
        A block device that disk_block reads instead of a file. It is never written to.
    peer
        The HOST[:PORT] of a "nameplate serve" for the network probes. Default: a peer that is started on this machine.
    key_file
        A file with the key that the peer and this machine share. Default: the key itself is taken from the
        environment variable NAMEPLATE_KEY.
    blas
        The name or path of the LAPACK that cpu_linpack uses, such as libmkl_rt.so.2. Default: OpenBLAS.
    mpi
        The MPI launcher with its options, in quotes: "mpirun -n 4", "srun -n 64".
    per_node
        With --mpi, run the single-machine probes on every node of the job: in-turn (one node at a time) or at-once.
    slurm
        Measure nothing now, but write this sbatch script, which measures in a batch job. Needs --mpi with srun, such as
        --mpi "srun -N 4 -n 64".
    seed
        The random seed for the order of the experiments in each round. Default: a random seed, which is recorded.
    priority
        The scheduling priority: normal, or high, which needs the privilege to raise it. Default: that of the plan, else
        normal.
    rated
        Reference values by area or probe, such as memory=59.7GB/s,cpu_flops=2TFLOP/s, or a file with one such value per
        line.
    expect
        A site file of nameplate check. Its expected ranges give reference values to metrics that have no other one, and
        --report judges the machine by them. Default: the ranges of the catalogue of cloud instance types, if
        nameplate-catalogue is installed. Not with --against.
    dry_run
        Show what would run, for how long, and what it would write and send. Measure nothing.
    resume
        Continue an interrupted run file: measure only what is missing.
    against
        A run file to compare with. Its experiments are measured again until each is FASTER, SLOWER or SAME, or until
        the budget ends, and the verdicts are shown.
    detect
        With --against, the size of a change that matters, such as 5%: SAME means that a change of this size is ruled
        out. Default: 5%.
    output
        The run file to write. With /dev/stdout it is written at the end, and nothing else is printed. Default:
        nameplate-DATE-TIME.jsonl in the current directory.
    report
        Also write an HTML report to this file.
    study
        A folder for the results of a plan that reproduces a study: its tables with the published values as CSV, its
        charts, and a report.
    force
        Let --report and --study overwrite files even if their checksums do not show that nameplate wrote them. Run
        files are never overwritten.
    all
        Show the tables of all values below the first screen.
    json
        Print the results as JSON instead of the first screen.
    quiet
        Show neither progress nor results.
    """

    budget: Option = None
    precision: Option = None
    rounds: Option = None
    samples: Option = None
    time: Option = None
    warmup: Option = None
    series: Option = None
    read_device: Option = None
    peer: Option = None
    key_file: Option = None
    blas: Option = None
    mpi: Option = None
    per_node: Option = None
    slurm: Path | None = None
    seed: int | None = None
    priority: Option = None
    rated: Annotated[Sequence[str], Parameter(show_default=False)] = ()
    expect: Annotated[Path | None, Parameter(show_default=False)] = None
    dry_run: bool = False
    resume: Path | None = None
    against: Path | None = None
    detect: Option = None
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
    report: Path | None = None
    study: Path | None = None
    force: bool = False
    all: bool = False
    json: bool = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False

    @cached_property
    def launch(self) -> Launch:
        """Return how to start the core: by the launcher in ``mpi``, or directly if ``mpi`` is None.

        The launcher is run with --version. Raises UsageError if this launcher cannot be used.
        """
        return alone() if self.mpi is None else launch_with(self.mpi)

    @cached_property
    def core_options(self) -> Sequence[str]:
        """Return the command-line options of nameplate-core for ``peer``, ``key_file`` and ``blas``; may be empty."""
        return core_options(self.peer, self.key_file, self.blas)

    @cached_property
    def baseline(self) -> BaselineComparison | None:
        """Return the comparison for ``against`` and ``detect``; None without ``against``.

        Raises UsageError if ``detect`` is given without ``against``, or is not a percentage.
        """
        return against_of(self.against, self.detect)

    @property
    def limits(self) -> dict[str, str]:
        """Return the text of each given limit by option, such as ``{"budget": "60s"}``; empty if none is given."""
        return {key: getattr(self, key) for key in LIMIT_KEYS if getattr(self, key) is not None}
