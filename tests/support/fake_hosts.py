"""Several hosts on this one machine, as an MPI launcher sees them: each with a name and shared memory of its own."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

# By these MPI tells nodes apart. What is said before is for one host alone.
_AS_HOST = """#!/bin/sh
name=$1
shift
before() {{
case $name in
{before}
esac
}}
before
exec unshare --uts --ipc --mount sh -c 'hostname "$0"; mount -t tmpfs tmpfs /dev/shm; exec sh -c "$1"' "$name" "$*"
"""
_LAUNCHER = """#!/bin/sh
exec {as_host} {first} mpirun.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 \\
  --mca plm_rsh_agent {as_host} --mca btl tcp,self --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo \\
  --host {hosts} "$@"
"""


def make_launcher(
    directory: Path, hosts: Sequence[str], before: Mapping[str, str] | None = None, slots: int = 1
) -> str:
    """Words for ``--mpi``, which go on with ``-n RANKS``; Open MPI fills one host with ``slots`` ranks after the other.

    ``before`` are lines of shell that a host's first process runs: to join a control group, to mount something.
    Needs root. Nothing is left when the launcher has ended.
    """
    lines = "\n".join(f"  {name}) {words} ;;" for name, words in (before or {}).items())
    as_host = _script(directory / "as-host", _AS_HOST.format(before=lines or "  -) ;;"))
    listed = ",".join(f"{host}:{slots}" for host in hosts)
    text = _LAUNCHER.format(as_host=shlex.quote(str(as_host)), first=hosts[0], hosts=listed)
    return shlex.quote(str(_script(directory / "mpirun", text)))


def _script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
