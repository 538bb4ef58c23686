"""No file of the user is removed or overwritten, and no measured result is lost."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path

import pytest

FAULTS = Path(__file__).parent
PRECIOUS = (".nameplate-key", ".nameplate-0011223344556677", ".nameplate-abc.tmp", ".nameplate-history-1.index")


@pytest.fixture(scope="session")
def disk_faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile and return the library that makes system calls of the disk probe fail."""
    library = tmp_path_factory.mktemp("faults") / "disk_faults.so"
    subprocess.run(["gcc", "-shared", "-fPIC", FAULTS / "disk_faults.c", "-o", library], check=True)
    return library


def test_without_o_tmpfile_no_file_of_the_user_is_removed(core_path: Path, tmp_path: Path, disk_faults: Path) -> None:
    for name in PRECIOUS:
        (tmp_path / name).write_text("precious")
        os.utime(tmp_path / name, (0, 0))
    params = {"file": str(tmp_path), "size": "1MiB", "threads": 1, "op": "write"}
    request = {"id": "x", "probe": "disk_block", "params": params, "slice_s": 0.01, "warmup_s": 0.0}
    env = {"LD_PRELOAD": str(disk_faults), "NAMEPLATE_FAULT": f"open:{os.O_TMPFILE}:1:{errno.EOPNOTSUPP}"}
    answer = subprocess.run(
        [core_path], input=json.dumps(request), capture_output=True, text=True, check=True, env={**os.environ, **env}
    )
    assert '"ending":"ok"' in answer.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(PRECIOUS)
