"""The files of the repository, as git lists them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def tracked_files(*folders: str) -> list[str]:
    """Return the names, relative to ``ROOT``, of the tracked files that exist below ``folders``, by default of all.

    Raises ``CalledProcessError`` if one of them has no tracked file.
    """
    command = ["git", "ls-files", "-z", "--error-unmatch", "--", *folders]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if (ROOT / name).is_file()]
