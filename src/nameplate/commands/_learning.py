"""Learn expected ranges from the runs of healthy machines, for ``nameplate check --learn``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from nameplate.errors import FileError, UsageError
from nameplate.expectations.site_file import MIN_MACHINES, ClassRanges, Site, site_text
from nameplate.records.atomic_write import write_whole
from nameplate.records.inputs import is_folder
from nameplate.records.outputs import check_output
from nameplate.report.content.format import count
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

if TYPE_CHECKING:
    from nameplate.expectations.learning import Learner

_SITE = Path("site.toml")
# As many machines as a note names.
_FEW = 3


def learn_site(paths: Sequence[Path], given: Path | None, force: bool, quiet: bool) -> int:
    """Write the site file ``given`` from run files and folders of them, and return the exit code.

    The default is site.toml. A file that exists may have been reviewed and edited, so it is replaced only with
    ``force``. Runs that are left out are named on standard error, unless ``quiet``.

    Raises:
        UsageError: no run can be learned from.
        FileError: the file cannot be written or may not be replaced, or a folder cannot be read.
    """
    # numpy and scipy take half a second.
    from nameplate.expectations.learning import Learner  # noqa: PLC0415

    output = given or _SITE
    files = dict(_run_files(paths))
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
    write_whole(site_text(site).encode(), output, force)
    print(f"wrote {output}: {_learned_words(site)} from {count(n_learned, 'run')}")
    for each in site.classes:
        for line in _notes(each):
            print(f"{each.machine.words}: {line}")
    return 0


def _added(learner: Learner, path: Path) -> str:
    """Let the learner learn from a run, and return why it is left out; "" if it is not."""
    try:
        return learner.add(summarise(read_run(path)))
    except FileError as error:
        return str(error)


def _notes(learned: ClassRanges) -> list[str]:
    """Return what the reviewer of a site file must know: machines that were left out, and metrics without a range."""
    left_out = Counter(name for each in learned.range for name in each.left_out)
    names = ", ".join(f"{name} ({count(n, 'metric')})" for name, n in left_out.most_common(_FEW))
    more = f" and {len(left_out) - _FEW} more" if len(left_out) > _FEW else ""
    return [*([f"far from the others and left out: {names}{more}"] if names else []), *learned.without_range]


def _learned_words(site: Site) -> str:
    machines = sum(each.machines for each in site.classes)
    provisional = sum(each.provisional for each in site.classes)
    classes = "1 class" if len(site.classes) == 1 else f"{len(site.classes)} classes"
    few = f", {provisional} of them provisional, with fewer than {MIN_MACHINES} machines" if provisional else ""
    return f"{classes} of {count(machines, 'machine')}{few},"


def _run_files(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each run file with the reason why it cannot be read, "" if that is not known yet."""
    # numpy and scipy take half a second.
    from nameplate.history.update import run_files  # noqa: PLC0415

    for path in paths:
        if is_folder(path):
            yield from ((path / each.path, each.reason) for each in run_files(path))
        else:
            yield path, ""
