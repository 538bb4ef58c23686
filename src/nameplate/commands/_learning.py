"""Learn expected ranges from the runs of healthy machines, for ``nameplate check --learn``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from nameplate.errors import FileError, UsageError
from nameplate.expectations.site_file import MIN_MACHINES, ClassRanges, Site, site_text
from nameplate.records.atomic_write import write_atomically
from nameplate.records.outputs import check_output
from nameplate.report.content.format import count
from nameplate.results.digest import read_judgeable

if TYPE_CHECKING:
    from nameplate.expectations.learning import Learner

_SITE = Path("site.toml")
# The maximum number of machines that a note names.
_FEW = 3


def learn_site(paths: Sequence[Path], given: Path | None, force: bool, quiet: bool) -> int:
    """Write a site file from the runs of healthy machines, and return exit code 0.

    - ``paths``: run files and folders with run files
    - ``given``: the site file to write; None means site.toml in the current directory
    - ``force``: replace the site file if it exists. Otherwise it is not replaced, since it may have been reviewed and
      edited
    - ``quiet``: do not name the runs that are left out on standard error

    Raises:
        UsageError: none of the runs is complete.
        FileError: the file cannot be written or may not be replaced, or a folder cannot be read.
    """
    # Importing numpy and scipy takes half a second.
    from nameplate.expectations.learning import Learner  # noqa: PLC0415
    from nameplate.history.update import run_files_of  # noqa: PLC0415

    output = given or _SITE
    files = run_files_of(paths)
    check_output("-o", output, inputs=files, force=force)
    learner = Learner()
    left_out = []
    for path, unreadable in files.items():
        if why := unreadable or _added(learner, path):
            left_out.append(why)
            if not quiet:
                print(f"nameplate: {path} is left out: {why}", file=sys.stderr)
    n_learned = len(files) - len(left_out)
    if not n_learned:
        first = f" ({left_out[0]})" if left_out else ""
        raise UsageError(
            f"there is no complete run to learn from{first}: give run files (.jsonl), or folders that have some"
        )
    site = learner.site(date.today())
    write_atomically(site_text(site).encode(), output, force)
    print(f"wrote {output}: {_learned_text(site)} from {count(n_learned, 'run')}")
    for machine_ranges in site.classes:
        for line in _notes(machine_ranges):
            print(f"{machine_ranges.machine.description}: {line}")
    return 0


def _added(learner: Learner, path: Path) -> str:
    """Learn from a run, and return why it is left out; "" if it is learned from."""
    try:
        return learner.add(read_judgeable(path))
    except FileError as error:
        return str(error)


def _notes(learned: ClassRanges) -> list[str]:
    """Return what the reviewer of a site file must know: machines that were left out, and metrics without a range."""
    left_out = Counter(name for expected in learned.range for name in expected.left_out)
    names = ", ".join(f"{name} ({count(n, 'metric')})" for name, n in left_out.most_common(_FEW))
    more = f" and {len(left_out) - _FEW} more" if len(left_out) > _FEW else ""
    return [*([f"far from the others and left out: {names}{more}"] if names else []), *learned.without_range]


def _learned_text(site: Site) -> str:
    machines = sum(machine_ranges.machines for machine_ranges in site.classes)
    provisional = sum(machine_ranges.provisional for machine_ranges in site.classes)
    classes = "1 class" if len(site.classes) == 1 else f"{len(site.classes)} classes"
    few = f", {provisional} of them provisional, with fewer than {MIN_MACHINES} machines" if provisional else ""
    return f"{classes} of {count(machines, 'machine')}{few},"
