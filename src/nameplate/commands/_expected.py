"""Find what is expected of a machine, for ``nameplate check``: by a site file, or by the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from nameplate.errors import NothingExpected, UsageError
from nameplate.expectations.catalogue_file import DISTRIBUTION, Catalogue, find_catalogue, read_catalogue
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.judged_results import why_not_judged
from nameplate.expectations.judging import judge
from nameplate.expectations.machine_type import machine_type
from nameplate.expectations.references import with_references
from nameplate.expectations.site_file import read_site, site_expectation
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment
from nameplate.records.result import Report
from nameplate.report.content.judgement import MachineJudgement

# From a machine and the experiments of a run to what is expected of them.
ExpectationSource: TypeAlias = Callable[[Machine, Sequence[Experiment]], Expectation]


def expectation_source(expect: Path | None, given_type: str, asks_metadata: bool) -> ExpectationSource:
    """Return where expectations come from: the site file ``expect``, or the catalogue if there is none.

    ``given_type`` is the instance type by the user, "" if not given; with ``asks_metadata`` the cloud is asked for it.

    Raises:
        UsageError: the options exclude one another, or there is neither a site file nor a catalogue.
        FileError: the file is not what it should be.
    """
    if expect is not None:
        if given_type or asks_metadata:
            raise UsageError("--type and --ask-metadata are for the catalogue: leave them out, or --expect")
        return partial(_by_site, expect)
    if given_type and asks_metadata:
        raise UsageError("--type says what --ask-metadata asks for: leave out one of them")
    path = find_catalogue()
    if path is None:
        raise UsageError(
            "nothing to compare with: give --expect SITE.toml, which nameplate check --learn RUNS/ writes, or install "
            f"the catalogue of cloud instance types: pip install {DISTRIBUTION}"
        )
    return partial(_by_catalogue, read_catalogue(path), given_type, asks_metadata)


def with_expectation(report: Report, expect: Path | None) -> Report:
    """Return a report whose values have the typical ones of their expected ranges as references, where they had none.

    The ranges are those of the site file ``expect``. Without one they are those of the catalogue, if it is installed
    and has the type or the CPU of the machine.

    Raises:
        FileError: a file is not what it should be.
        NothingExpected: the site file has no class of this machine.
    """
    expectation = _expectation_of(report, expect)
    return with_references(report, expectation) if expectation else report


def with_judgement(report: Report, expect: Path | None) -> tuple[Report, MachineJudgement | None]:
    """Return what ``with_expectation`` returns, and the judgement on the machine; None if nothing is expected of it.

    Raises:
        FileError: a file is not what it should be.
        NothingExpected: the site file has no class of this machine.
    """
    expectation = _expectation_of(report, expect)
    if expectation is None:
        return report, None
    why_not = why_not_judged(report)
    values = [] if why_not else judge(report, expectation.ranges)
    return with_references(report, expectation), MachineJudgement(values, expectation, why_not)


def check_site(expect: Path, machine: Machine) -> None:
    """Raise FileError if the site file is not what it should be, NothingExpected if it has no class of the machine."""
    site_expectation(read_site(expect), expect, machine)


def _expectation_of(report: Report, expect: Path | None) -> Expectation | None:
    if report.machine is None or (why_not_judged(report) and expect is None):
        return None
    if expect is not None:
        return _by_site(expect, report.machine, [])
    catalogue = _installed_catalogue()
    if catalogue is None:
        return None
    # numpy and scipy take a quarter of a second.
    from nameplate.expectations.catalogue_ranges import catalogue_expectation  # noqa: PLC0415

    found = machine_type(report.machine, catalogue)
    expectation = catalogue_expectation(catalogue, report.machine, found, report.run.plan.experiments)
    return expectation if expectation.ranges else None


def print_sources() -> int:
    """Print the sources of the catalogue with their licences, and return the exit code."""
    path = find_catalogue()
    if path is None:
        raise UsageError(f"the catalogue is not installed: pip install {DISTRIBUTION}")
    catalogue = read_catalogue(path)
    print(f"{path}, {len(catalogue.machines):,} instance types, collected {catalogue.collected}:")
    for source in catalogue.sources:
        print(f"  {source.name}, {source.address}\n    licence: {source.licence}; changes: {source.changes}")
    return 0


@cache
def _installed_catalogue() -> Catalogue | None:
    """Return the installed catalogue, which is read once however many runs a report has."""
    path = find_catalogue()
    return read_catalogue(path) if path else None


def _by_site(expect: Path, machine: Machine, _: Sequence[Experiment]) -> Expectation:
    return site_expectation(read_site(expect), expect, machine)


def _by_catalogue(
    catalogue: Catalogue, given_type: str, asks_metadata: bool, machine: Machine, experiments: Sequence[Experiment]
) -> Expectation:
    # numpy and scipy take a quarter of a second.
    from nameplate.expectations.catalogue_ranges import catalogue_expectation  # noqa: PLC0415

    named = given_type
    if asks_metadata:
        # The HTTP client takes a twentieth of a second to import, and few users ask.
        from nameplate.execution.cloud_metadata import ask_metadata  # noqa: PLC0415

        named = ask_metadata()
        if not named:
            raise UsageError("--ask-metadata: no metadata service answered; give the instance type with --type")
    found = machine_type(machine, catalogue, named, "the metadata" if asks_metadata else "--type")
    expectation = catalogue_expectation(catalogue, machine, found, experiments)
    if not expectation.ranges:
        raise NothingExpected(
            f"the catalogue has nothing about {machine.cpu.model or machine.cpu.architecture} with "
            f"{machine.topology.threads} CPUs in what was measured; give --type if it is a cloud instance, or learn "
            "from healthy machines: nameplate check --learn RUNS/"
        )
    return expectation
