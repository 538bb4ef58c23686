"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from nameplate.execution.core_process import describe_all
from nameplate.execution.launch import CORE_VARIABLE, mpi_programs
from nameplate.execution.launch import core_path as installed_core_path
from nameplate.planning.sweep import ProbeInfo

ROOT = Path(__file__).parent.parent

# There is no deadline, because the machine may be busy, and every run uses the same examples.
settings.register_profile("nameplate", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nameplate")

# The programs under test inherit this. Under nohup, or a runner that starts tests in the background, the signal is
# ignored, and no test could end a program by it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def cache_directory(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the caches of the tests, and of the programs that they start, out of the user's."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def core_path() -> Path:
    """Return the path of the nameplate-core under test."""
    return installed_core_path()


@pytest.fixture(scope="session")
def faulty_core() -> Path:
    """Return the path of the core with wrong kernels and probes that crash and hang; script/test builds it."""
    path = ROOT / "build" / "release" / "nameplate-core-faulty"
    assert path.is_file(), "build it: cmake --build --preset release --target nameplate-core-faulty"
    return path


@pytest.fixture
def use_faulty_core(faulty_core: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make nameplate run the faulty core in this test."""
    monkeypatch.setitem(os.environ, CORE_VARIABLE, str(faulty_core))


@pytest.fixture(scope="session", autouse=True)
def open_mpi_folder() -> Iterator[None]:
    """Set a folder of this worker's own for Open MPI: a job that ends removes the parent of another job's folder."""
    # Sockets lie in it, whose paths must be short.
    with tempfile.TemporaryDirectory(prefix="ompi-") as folder, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("OMPI_MCA_orte_tmpdir_base", folder)
        yield


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the two variables that let Open MPI run as root."""
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


@pytest.fixture(params=["mpich", "openmpi"])
def family(request: pytest.FixtureRequest) -> str:
    """Return the name of an MPI; the test runs once for each. ``script/bootstrap test`` installs both."""
    assert request.param in mpi_programs(), "run script/bootstrap test"
    return str(request.param)


@pytest.fixture(scope="session")
def described() -> dict[str, ProbeInfo]:
    """Return the description of every probe of every installed core."""
    return describe_all()
