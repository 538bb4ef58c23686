"""Batch jobs of Slurm: the script that runs a command of nameplate in an allocation of its own."""

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
from nameplate.records.model import Run
from nameplate.units import parse_count

# srun's options that say what is allocated: in a script they stand at its head, and srun takes them from there.
_ALLOCATION = (
    ("-N", "--nodes"), ("-n", "--ntasks"), ("--ntasks-per-node",), ("-c", "--cpus-per-task"), ("-t", "--time"),
    ("-w", "--nodelist"), ("-x", "--exclude"), ("-C", "--constraint"), ("-p", "--partition"), ("-A", "--account"),
    ("-q", "--qos"), ("--reservation",),
)  # fmt: skip
# The launcher may take so long to tell the machine, and to start the last round within the budget.
_SLACK_S = 2 * MPI_START_DEADLINE_S
# So long before its time is over the run is stopped in order.
_NOTICE_S = 60
_OPENING = (
    "#!/bin/bash",
    f"# Written by nameplate {__version__}. For an account or partition: name it, and take one # away.",
    "# exclusive: others on the nodes would be measured too.",
    f"# time: the plan's, and {_SLACK_S / 60:.0f} min to start.",
    f"# signal: {_NOTICE_S} s before the end of that time the run ends after the present sample, in order.",
    "#SBATCH --exclusive",
)
_REASONS = (
    "",
    "# This path is the same on the nodes. By exec, since the signal is sent to this shell.",
)


@dataclass(frozen=True)
class Allocation:
    """What a job asks Slurm for, by sbatch's names, and the words that are left for srun in it."""

    asked: Mapping[str, str]
    srun: Sequence[str]

    @property
    def ranks(self) -> int:
        """How many there will be."""
        if "ntasks" in self.asked:
            return self._count("ntasks")
        return self.nodes * self._count("ntasks-per-node")

    @property
    def nodes(self) -> int:
        """How many there will be; where that is left to Slurm, no more than these."""
        if "nodes" in self.asked:
            return self._count("nodes")
        return len(expand(self.asked["nodelist"])) if "nodelist" in self.asked else self._count("ntasks")

    def _count(self, name: str) -> int:
        try:
            count = parse_count(self.asked.get(name, "1"))
        except UsageError as error:
            raise UsageError(f"--slurm: srun's --{name}: {error}") from None
        if count > MAX_RANKS:
            raise UsageError(f"--slurm: srun's --{name}={count} is more than any job has: at most {MAX_RANKS}")
        return count


def allocation_of(launch: Launch) -> Allocation:
    """What the words of ``--mpi "srun …"`` ask for. Raises UsageError where they name no number of ranks."""
    if not launch.launcher or not is_srun(launch.launcher[0]):
        raise UsageError(
            '--slurm needs --mpi "srun -N 2 --ntasks-per-node=1"; what needs no MPI is submitted by '
            '`sbatch --exclusive --wrap "nameplate run ..."`'
        )
    parser = OptionExtractor()
    for names in _ALLOCATION:
        parser.add_argument(*names, dest=names[-1].removeprefix("--"))
    found, rest = parser.pick(launch.launcher)
    asked = {name: value for name, value in found.items() if value is not None}
    if not asked.keys() & {"nodes", "ntasks", "nodelist"}:
        raise UsageError('--slurm: say how many nodes and ranks, as in --mpi "srun -N 2 --ntasks-per-node=1"')
    # Slurm hands on to srun what was asked for, but for this.
    cpus = [f"--cpus-per-task={asked['cpus-per-task']}"] if "cpus-per-task" in asked else []
    return Allocation(asked, [*rest, *cpus])


def write_script(path: Path, allocation: Allocation, run: Run, arguments: Sequence[str]) -> None:
    """Writes what runs ``nameplate`` with the same ``arguments``, without this one. Raises UsageError or FileError."""
    plan = run.plan
    if not run.per_node and not any(probe_of(each.probe).takes_whole_job for each in plan.experiments):
        raise UsageError(
            f"--slurm: nothing in {plan.name} needs MPI: submit it by "
            f'`sbatch --exclusive --wrap "nameplate run {plan.name}"`'
        )
    command, run_file = _command(arguments, allocation)
    if run_file is not None and Path(run_file).exists():
        raise FileError(f"{run_file} is already there: name another with -o")
    turns = allocation.nodes if run.per_node == "in-turn" else 1
    text = _script(allocation, plan.name, longest_s(plan, turns), [*command, "-o"], run_file)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileError(f"{path} is already there: remove it, or name another") from None
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}") from None


def _command(arguments: Sequence[str], allocation: Allocation) -> tuple[list[str], str | None]:
    """The same command with what srun still has to be told, and the run file that was named."""
    parser = OptionExtractor()
    parser.add_argument("--slurm")
    parser.add_argument("--mpi")
    parser.add_argument("-o", "--output")
    found, rest = parser.pick(arguments)
    return [*_this_program(), *rest, "--mpi", shlex.join(allocation.srun)], found["output"]


def _this_program() -> list[str]:
    """Return the words that start nameplate, whatever lies in the directory that they are used in."""
    script = Path(sysconfig.get_path("scripts")) / "nameplate"
    return [str(script)] if script.is_file() else [sys.executable, "-I", "-m", "nameplate"]


def _script(allocation: Allocation, plan: str, most_s: float, command: Sequence[str], run_file: str | None) -> str:
    minutes = math.ceil((most_s + _SLACK_S + _NOTICE_S) / 60)
    head = {
        "job-name": f"nameplate-{plan}",
        "output": "%x-%j.out",
        "time": str(minutes),
        "signal": f"B:INT@{_NOTICE_S}",
        **allocation.asked,
    }
    lines = [f"#SBATCH --{name}={_in_a_line(value)}" for name, value in head.items()]
    wanted = [f"##SBATCH --{name}=NAME" for name in ("account", "partition") if name not in head]
    own_file = '"nameplate-$SLURM_JOB_ID.jsonl"' if run_file is None else shlex.quote(run_file)
    return "\n".join([*_OPENING, *lines, *wanted, *_REASONS, f"exec {shlex.join(command)} {own_file}", ""])


def _in_a_line(value: str) -> str:
    if not value.isprintable():
        raise UsageError(f"--slurm: {value!r} cannot stand at the head of a script")
    return shlex.quote(value)
