"""Write batch scripts for Slurm, which run a nameplate command in an allocation."""

from __future__ import annotations

import math
import shlex
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nameplate import __version__
from nameplate.errors import FileError, UsageError
from nameplate.execution.launch import MPI_START_DEADLINE_S, Launch
from nameplate.execution.srun import OptionExtractor, is_srun
from nameplate.hostlist import expand
from nameplate.planning.budget import longest_s
from nameplate.probes import probe_of
from nameplate.records.machine_record import MAX_RANKS
from nameplate.records.run_record import Run
from nameplate.units import parse_count

# Options of srun that define the allocation. A script has them as #SBATCH lines, and srun inherits them.
_ALLOCATION = (
    ("-N", "--nodes"), ("-n", "--ntasks"), ("--ntasks-per-node",), ("-c", "--cpus-per-task"), ("-t", "--time"),
    ("-w", "--nodelist"), ("-x", "--exclude"), ("-C", "--constraint"), ("-p", "--partition"), ("-A", "--account"),
    ("-q", "--qos"), ("--reservation",),
)  # fmt: skip
# The launcher starts once for the machine's facts, and once at the end of the budget for the last round.
_SLACK_S = 2 * MPI_START_DEADLINE_S
# How long before the end of the allocation the run is stopped.
_NOTICE_S = 60
_OPENING = (
    "#!/bin/bash",
    f"# Written by nameplate {__version__}. To set an account or partition, name it and remove one #.",
    "# exclusive: other jobs on the nodes would disturb the measurement.",
    f"# time: the longest time of the plan, and {_SLACK_S / 60:.0f} min to start.",
    f"# signal: {_NOTICE_S} s before the end of that time, the run stops after the current sample.",
    "#SBATCH --exclusive",
)
_REASONS = (
    "",
    "# The path must be the same on all nodes. exec, because Slurm sends the signal to this shell.",
)


@dataclass(frozen=True)
class Allocation:
    """The resources that a job requests, and the srun command that starts the ranks in the job.

    ``asked`` maps the long names of srun options, without dashes, to their values as text, such as ``{"nodes": "2",
    "ntasks-per-node": "1"}``. It must have at least one of ``nodes``, ``nodelist`` and ``ntasks``. The values are
    checked only when ``ranks`` or ``nodes`` is read. ``srun`` has the arguments of the remaining command, starting with
    ``srun``: without the options in ``asked``, except that ``--cpus-per-task`` is kept, since srun does not inherit it.
    """

    asked: Mapping[str, str]
    srun: Sequence[str]

    @property
    def ranks(self) -> int:
        """Return the number of ranks of the job: ``ntasks``, else the nodes times ``ntasks-per-node`` (1 by default).

        Raises UsageError if an option's value is not a whole number from 1 to ``MAX_RANKS``, or if ``nodelist`` is not
        a list of hosts. The product may be above ``MAX_RANKS``.
        """
        if "ntasks" in self.asked:
            return self._count("ntasks")
        return self.nodes * self._count("ntasks-per-node")

    @property
    def nodes(self) -> int:
        """Return the number of nodes of the job: ``nodes``, else the length of ``nodelist``, else ``ntasks``.

        With only ``ntasks``, Slurm chooses the number of nodes, and the result is the maximum. A host that occurs twice
        in ``nodelist`` counts twice. Raises UsageError if an option's value is not a whole number from 1 to
        ``MAX_RANKS``, or if ``nodelist`` is not a list of hosts.
        """
        if "nodes" in self.asked:
            return self._count("nodes")
        return len(expand(self.asked["nodelist"])) if "nodelist" in self.asked else self._count("ntasks")

    def _count(self, name: str) -> int:
        try:
            count = parse_count(self.asked.get(name, "1"))
        except UsageError as error:
            raise UsageError(f"--slurm: srun's --{name}: {error}") from None
        if not 1 <= count <= MAX_RANKS:
            raise UsageError(f"--slurm: srun's --{name}={count}: use a number from 1 to {MAX_RANKS}")
        return count


def allocation_of(launch: Launch) -> Allocation:
    """Return the allocation that the arguments of ``--mpi "srun …"`` request. Nothing is allocated.

    ``launch`` is the launch made from that text. Raises UsageError if its launcher is not srun, an option lacks its
    value, or ``--nodes``, ``--ntasks`` and ``--nodelist`` (and their short forms) are all missing. The values are not
    checked.
    """
    if not launch.launcher or not is_srun(launch.launcher[0]):
        raise UsageError(
            '--slurm needs --mpi "srun -N 2 --ntasks-per-node=1"; without MPI, submit the run with '
            '`sbatch --exclusive --wrap "nameplate run ..."`'
        )
    parser = OptionExtractor()
    for names in _ALLOCATION:
        parser.add_argument(*names, dest=names[-1].removeprefix("--"))
    options, rest = parser.pick(launch.launcher)
    asked = {name: value for name, value in options.items() if value is not None}
    if not asked.keys() & {"nodes", "ntasks", "nodelist"}:
        raise UsageError(
            '--slurm: the number of nodes is missing; give it, as in --mpi "srun -N 2 --ntasks-per-node=1"'
        )
    # srun inherits all other options from the allocation.
    cpus = [f"--cpus-per-task={asked['cpus-per-task']}"] if "cpus-per-task" in asked else []
    return Allocation(asked, [*rest, *cpus])


def write_script(path: Path, allocation: Allocation, run: Run, arguments: Sequence[str]) -> None:
    """Write a batch script for sbatch that runs nameplate with the same ``arguments`` in the allocation.

    ``path`` is the new script, which is not submitted. ``run`` is the first record of the run; only its plan and
    ``per_node`` are used. ``arguments`` are the command-line arguments after ``nameplate``: in the script, --slurm is
    left out, and --mpi has ``allocation.srun`` as its value. Without -o in ``arguments``, the run file is
    ``nameplate-JOBID.jsonl``. Unless the allocation has a ``time``, the script requests the longest time of the plan
    (``budget.longest_s``) and 11 minutes to start and stop, rounded up to a minute.

    Raises UsageError if the plan has no MPI probe and ``run.per_node`` is "", if an option of the allocation is not
    printable, or if its number of nodes is not valid with ``per_node`` "in-turn". Raises FileError if the script cannot
    be written, or the script or the named run file exists already.
    """
    plan = run.plan
    if not run.per_node and not any(probe_of(experiment.probe).takes_all_ranks for experiment in plan.experiments):
        raise UsageError(
            f"--slurm: {plan.name} does not need MPI: submit it with "
            f'`sbatch --exclusive --wrap "nameplate run {plan.name}"`'
        )
    command, run_file = _command(arguments, allocation)
    if run_file is not None and Path(run_file).exists():
        raise FileError(f"-o {run_file}: the file exists; choose another name")
    turns = allocation.nodes if run.per_node == "in-turn" else 1
    text = _script(allocation, plan.name, longest_s(plan, turns), [*command, "-o"], run_file)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileError(f"--slurm {path}: the file exists; remove it, or choose another name") from None
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None


def _command(arguments: Sequence[str], allocation: Allocation) -> tuple[list[str], str | None]:
    """Return the command for the script, without the run file, and the run file's path, None if -o was not given."""
    parser = OptionExtractor()
    parser.add_argument("--slurm")
    parser.add_argument("--mpi")
    parser.add_argument("-o", "--output")
    options, rest = parser.pick(arguments)
    return [*_this_program(), *rest, "--mpi", shlex.join(allocation.srun)], options["output"]


def _this_program() -> list[str]:
    """Return the command that starts nameplate from any current directory."""
    script = Path(sysconfig.get_path("scripts")) / "nameplate"
    return [str(script)] if script.is_file() else [sys.executable, "-I", "-m", "nameplate"]


def _script(allocation: Allocation, plan: str, max_s: float, command: Sequence[str], run_file: str | None) -> str:
    minutes = math.ceil((max_s + _SLACK_S + _NOTICE_S) / 60)
    head = {
        "job-name": f"nameplate-{plan}",
        "output": "%x-%j.out",
        "time": str(minutes),
        "signal": f"B:INT@{_NOTICE_S}",
        **allocation.asked,
    }
    lines = [f"#SBATCH --{name}={_in_a_line(value)}" for name, value in head.items()]
    placeholders = [f"##SBATCH --{name}=NAME" for name in ("account", "partition") if name not in head]
    run_path = '"nameplate-$SLURM_JOB_ID.jsonl"' if run_file is None else shlex.quote(run_file)
    return "\n".join([*_OPENING, *lines, *placeholders, *_REASONS, f"exec {shlex.join(command)} {run_path}", ""])


def _in_a_line(value: str) -> str:
    if not value.isprintable():
        raise UsageError(
            f"--slurm: {value!r}: not printable, so it cannot be written to a script; remove the special characters"
        )
    return shlex.quote(value)
