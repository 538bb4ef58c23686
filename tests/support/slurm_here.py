"""Run a private Slurm cluster of one node: munged, slurmctld and slurmd with ports and folders of their own."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from nameplate.tools.tool_process import free_port

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel")
_START_DEADLINE_S = 60.0
# Not every user's PATH has the directories of daemons.
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

# One node with 4 CPUs, even if the machine has fewer; no control groups, no accounting, no MPI plugin by default.
_CONFIGURATION = """
ClusterName=nameplate
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
KillWait=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@contextmanager
def slurm_here(directory: Path) -> Iterator[Path]:
    """Run the cluster and yield the path for SLURM_CONF; skip the test if Slurm is not installed."""
    missing = [program for program in _PROGRAMS if shutil.which(program, path=_PATH) is None]
    if missing:
        cannot_be_tested(f"{' '.join(missing)} not found; script/bootstrap test installs them")
    configuration = _write_configuration(directory)
    environment = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(configuration)}
    munged = ["munged", "--foreground", f"--socket={directory}/munge.socket", f"--key-file={directory}/munge.key",
              f"--pid-file={directory}/munged.pid", f"--log-file={directory}/munged.log",
              f"--seed-file={directory}/munge.seed", "--force"]  # fmt: skip
    with ExitStack() as daemons:
        daemons.enter_context(_daemon(munged, environment, directory / "munged.words"))
        _wait_until((directory / "munge.socket").exists, directory)
        for name in ("slurmctld", "slurmd"):
            daemons.enter_context(_daemon([name, "-D"], environment, directory / f"{name}.words"))
        _wait_until(lambda: "idle" in _ask("sinfo", "--noheader", "--format=%T", environment=environment), directory)
        try:
            yield configuration
        finally:
            # Steps outlive the daemon that started them.
            _ask("scancel", "--state=RUNNING", environment=environment)
            _ask("scancel", "--state=PENDING", environment=environment)
            _wait_until(lambda: not _ask("squeue", "--noheader", environment=environment), directory)


def cannot_be_tested(reason: str) -> None:
    """Skip the test, or fail it if NAMEPLATE_TEST_EVERYTHING is set."""
    if os.environ.get("NAMEPLATE_TEST_EVERYTHING"):
        pytest.fail(reason)
    pytest.skip(reason)


def _write_configuration(directory: Path) -> Path:
    for name in ("state", "spool"):
        (directory / name).mkdir()
    key = directory / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(128))
    controller_port = node_port = free_port()
    while node_port == controller_port:
        node_port = free_port()
    ports = {"controller_port": controller_port, "node_port": node_port}
    host = socket.gethostname().partition(".")[0]
    path = directory / "slurm.conf"
    path.write_text(_CONFIGURATION.format(host=host, user=getpass.getuser(), directory=directory, **ports))
    return path


@contextmanager
def _daemon(command: list[str], environment: dict[str, str], message: Path) -> Iterator[None]:
    with message.open("w") as file, subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
    ) as process:  # fmt: skip
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _ask(*command: str, environment: dict[str, str]) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


def _wait_until(happened: Callable[[], bool], directory: Path) -> None:
    deadline = time.monotonic() + _START_DEADLINE_S
    while not happened():
        if time.monotonic() > deadline:
            arguments = "\n".join(path.read_text()[-1000:] for path in sorted(directory.glob("*.words")))
            raise AssertionError(f"Slurm does not respond: {arguments}")
        time.sleep(0.1)
