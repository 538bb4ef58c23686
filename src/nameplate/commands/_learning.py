"""Learn expected ranges from the runs of healthy machines, for ``nameplate check --learn``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from nameplate.errors import FileError, UsageError
from nameplate.expectations.site_file import MIN_MACHINES, ClassRanges, Site, site_text
from nameplate.records.atomic_write import write_whole
from nameplate.records.outputs import check_output
from nameplate.report.format import count
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

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
    files = list(_run_files(paths))
    check_output("-o", output, inputs=files, force=force)
    learner = Learner()
    n_learned = 0
    for path in files:
        try:
            why = learner.add(summarise(read_run(path)))
        except FileError as error:
            why = str(error)
        n_learned += not why
        if why and not quiet:
            print(f"nameplate: {path} is left out: {why}", file=sys.stderr)
    if not n_learned:
        raise UsageError("there is no complete run to learn from: give run files (.jsonl), or folders that have some")
    site = learner.site(date.today())
    write_whole(site_text(site).encode(), output, force)
    print(f"wrote {output}: {_learned_words(site)} from {count(n_learned, 'run')}")
    for each in site.classes:
        for line in _notes(each):
            print(f"{each.machine.words}: {line}")
    return 0


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


def _run_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.jsonl"))
        else:
            yield path
