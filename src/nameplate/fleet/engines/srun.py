"""The srun command that starts one process on each host of an allocation of Slurm."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nameplate.errors import UsageError
from nameplate.hostlist import compress, expand

# A process gets all CPUs of its host, and may share them with the shell of the allocation. One that fails does not end
# the others, nor does one that ends early.
_OPTIONS = ("--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0", "--mpi=none", "--cpu-bind=none", "--overlap")
# Shell text with the name by which Slurm knows the host of a process.
NAME = '"${SLURMD_NODENAME:-$(uname -n)}"'


def allocated_hosts() -> list[str]:
    """Return the hosts of the allocation in which this process runs.

    Raises UsageError outside an allocation.
    """
    nodes = os.environ.get("SLURM_JOB_NODELIST", "")
    if not nodes:
        raise UsageError(
            "--engine srun: there is no allocation; run it in one, such as that of salloc -N 4 --exclusive"
        )
    return list(expand(nodes))


def srun_command(hosts: Sequence[str]) -> list[str]:
    """Return the srun command, to which a program is added, for one process on each of these hosts."""
    number = len(hosts)
    return ["srun", f"--nodes={number}", f"--ntasks={number}", f"--nodelist={compress(hosts)}", *_OPTIONS]
