"""Find what is expected of a machine, for ``nameplate check``: by a site file, or by the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from nameplate.errors import NothingExpected, UsageError
from nameplate.expectations.catalogue_file import DISTRIBUTION, Catalogue, find_catalogue, read_catalogue
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.judging import judge
from nameplate.expectations.machine_type import machine_type
from nameplate.expectations.references import with_references
from nameplate.expectations.site_file import read_site, site_expectation
from nameplate.records.machine_record import Machine, binding_quota_cpus
from nameplate.records.plan_record import Experiment
from nameplate.records.result import Report
from nameplate.report.content.judgement import MachineJudgement
from nameplate.results.judgeable import judgeable, why_without_class

# A function that returns what is expected of a machine in the experiments of a run.
ExpectationSource: TypeAlias = Callable[[Machine, Sequence[Experiment]], Expectation]


def expectation_source(expect: Path | None, given_type: str, asks_metadata: bool) -> ExpectationSource:
    """Return a function that returns what is expected of a machine, by a site file or by the catalogue.

    ``expect`` is the site file; with None the catalogue is used. ``given_type`` is the instance type that the user
    gave, "" if none. With ``asks_metadata``, the function asks the metadata service of the cloud for the instance type.
    The function raises NothingExpected if nothing is known about the machine, and FileError if the site file is not
    valid.

    Raises:
        UsageError: the options exclude one another, or there is neither a site file nor a catalogue.
        FileError: the catalogue is not valid.
    """
    if expect is not None:
        if given_type or asks_metadata:
            raise UsageError(
                "--type and --ask-metadata select ranges of the catalogue, which --expect replaces: leave them out, or "
                "leave out --expect"
            )
        return partial(_by_site, expect)
    if given_type and asks_metadata:
        raise UsageError("--type already gives the instance type that --ask-metadata asks for: leave out one of them")
    path = find_catalogue()
    if path is None:
        raise UsageError(
            "nothing to compare with: give --expect SITE.toml, which nameplate check --learn RUNS/ writes, or install "
            f"the catalogue of cloud instance types: pip install {DISTRIBUTION}"
        )
    return partial(_by_catalogue, read_catalogue(path), given_type, asks_metadata)


def with_expectation(report: Report, expect: Path | None) -> Report:
    """Return a report in which results without a reference value have the typical value of their expected range.

    ``expect`` is the site file with the ranges; if it is None, the ranges are from the catalogue. The report is
    returned unchanged if there is no site file and the catalogue is not installed, has neither the instance type nor
    the CPU of the machine, or none of its ranges can fit (see ``why_without_class``).

    Raises:
        FileError: the site file or the catalogue is not valid.
        NothingExpected: the site file has no class of this machine.
    """
    expectation = _expectation_of(report, expect)
    return with_references(report, expectation) if expectation else report


def with_judgement(report: Report, expect: Path | None) -> tuple[Report, MachineJudgement | None]:
    """Return the report of ``with_expectation``, and the judgement on its machine; None if no range is known for it.

    If the run cannot be judged, the judgement has no values and gives the reason. ``expect`` is the site file with the
    ranges; if it is None, the ranges are from the catalogue.

    Raises:
        FileError: the site file or the catalogue is not valid.
        NothingExpected: the site file has no class of this machine.
    """
    expectation = _expectation_of(report, expect)
    if expectation is None:
        return report, None
    run = judgeable(report)
    values = [] if run.why_not else judge(run, expectation.ranges)
    return with_references(report, expectation), MachineJudgement(values, expectation, run.why_not)


def check_site(expect: Path, machine: Machine) -> None:
    """Check that a site file is valid and has a class of ``machine``. ``expect`` is the path of the site file.

    Raises:
        FileError: the file is not valid.
        NothingExpected: the file has no class of the machine.
    """
    site_expectation(read_site(expect), expect, machine)


def _expectation_of(report: Report, expect: Path | None) -> Expectation | None:
    if report.machine is None:
        return None
    has_class = not why_without_class(report) and binding_quota_cpus(report.machine) is None
    if not has_class and expect is None:
        return None
    if expect is not None:
        return _by_site(expect, report.machine, [])
    catalogue = _installed_catalogue()
    if catalogue is None:
        return None
    # Importing numpy and scipy takes a quarter of a second.
    from nameplate.expectations.catalogue_ranges import catalogue_expectation  # noqa: PLC0415

    type_of_machine = machine_type(report.machine, catalogue)
    expectation = catalogue_expectation(catalogue, report.machine, type_of_machine, report.run.plan.experiments)
    return expectation if expectation.ranges else None


def print_sources() -> int:
    """Print the sources of the catalogue with their licences, and return exit code 0.

    Raises:
        UsageError: the catalogue is not installed.
        FileError: the catalogue is not valid.
    """
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
    """Return the installed catalogue, or None without one. It is read once, however many runs a report has."""
    path = find_catalogue()
    return read_catalogue(path) if path else None


def _by_site(expect: Path, machine: Machine, _: Sequence[Experiment]) -> Expectation:
    return site_expectation(read_site(expect), expect, machine)


def _by_catalogue(
    catalogue: Catalogue, given_type: str, asks_metadata: bool, machine: Machine, experiments: Sequence[Experiment]
) -> Expectation:
    # Importing numpy and scipy takes a quarter of a second.
    from nameplate.expectations.catalogue_ranges import catalogue_expectation  # noqa: PLC0415

    named = given_type
    if asks_metadata:
        # The HTTP client takes a twentieth of a second to import, and few users ask.
        from nameplate.execution.cloud_metadata import ask_metadata  # noqa: PLC0415

        named = ask_metadata()
        if not named:
            raise UsageError("--ask-metadata: no metadata service answered; give the instance type with --type")
    type_of_machine = machine_type(machine, catalogue, named, "the metadata" if asks_metadata else "--type")
    expectation = catalogue_expectation(catalogue, machine, type_of_machine, experiments)
    if not expectation.ranges:
        raise NothingExpected(
            f"the catalogue has no measured values of {machine.cpu.model or machine.cpu.architecture} "
            f"with {machine.topology.threads} CPUs; give --type if it is a cloud instance, or learn from healthy "
            "machines: nameplate check --learn RUNS/"
        )
    return expectation
