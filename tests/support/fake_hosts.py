"""Present this machine to an MPI launcher as several hosts, each with a name and shared memory of its own."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

# MPI distinguishes nodes by their name and shared memory. The lines in `before` are run for one host only.
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
    """Return the launcher for ``--mpi``, to be followed by ``-n RANKS``; Open MPI puts ``slots`` ranks on each host.

    ``before`` has shell commands that the first process of a host runs, for example to join a control group or to mount
    a file system. Needs root. Nothing remains after the launcher has ended.
    """
    lines = "\n".join(f"  {name}) {message} ;;" for name, message in (before or {}).items())
    as_host = _script(directory / "as-host", _AS_HOST.format(before=lines or "  -) ;;"))
    listed = ",".join(f"{host}:{slots}" for host in hosts)
    text = _LAUNCHER.format(as_host=shlex.quote(str(as_host)), first=hosts[0], hosts=listed)
    return shlex.quote(str(_script(directory / "mpirun", text)))


def _script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
