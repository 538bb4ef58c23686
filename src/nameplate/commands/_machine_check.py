"""Judge machines by expected ranges, for the commands ``check`` and ``fleet``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from nameplate.commands._expected import ExpectationSource
from nameplate.commands._fleet import read_machines, show_files_read
from nameplate.errors import CoreError, NothingExpected, UsageError
from nameplate.expectations.judging import JudgedValue, areas_of

_BELOW, _STRICT = 1, 4


def check_machines(
    runs: Sequence[Path], source: ExpectationSource, format_name: str, has_all: bool, strict: bool
) -> int:  # fmt: skip
    """Judge each machine of a fleet, print the judgements, and return the exit code.

    ``runs`` are run files and folders, and ``source`` gives the expected ranges of a machine. ``format_name`` is
    "table", "json" or "one-line". With ``has_all`` the table has all values, and with ``strict`` an UNSURE or UNKNOWN
    area counts. The exit code is 1 if a machine is BELOW, else 3 if one could not be measured or judged, and 5 if
    nothing is known of any.

    Raises:
        UsageError: the format is another one, or the folders have no run files.
        FileError: no file is a run of a machine.
    """
    # Importing numpy and scipy takes half a second.
    from nameplate.fleet.host_judgement import judged_hosts  # noqa: PLC0415
    from nameplate.report.terminal.fleet_check import fleet_sentence, print_fleet_check  # noqa: PLC0415

    machines = read_machines(runs)
    judgements = list(judged_hosts(machines.hosts, source, show_files_read))
    if format_name == "one-line":
        print(f"nameplate: {fleet_sentence(judgements)}")
    elif format_name == "json":
        document = {"machines": judgements, "left_out": machines.left_out}
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    elif format_name == "junit":
        raise UsageError("--format junit has a test for each value of one machine: give one run, or use --json")
    else:
        print_fleet_check(judgements, machines.left_out, has_all)
    if all(judgement.verdict in (None, "UNKNOWN") for judgement in judgements):
        return NothingExpected.exit_code
    codes = [
        CoreError.exit_code if judgement.verdict is None else exit_code_of(judgement.values, strict)
        for judgement in judgements
    ]
    return next((code for code in (_BELOW, CoreError.exit_code, _STRICT) if code in codes), 0)


def exit_code_of(values: Sequence[JudgedValue], strict: bool) -> int:
    """Return the exit code for the values of a machine.

    It is 1 if one is BELOW, 3 if one was not measured, and 5 if none is known. With ``strict`` it is 4 if an area is
    UNSURE or UNKNOWN; otherwise it is 0.
    """
    verdicts = {values_of_area[0].verdict for values_of_area in areas_of(values).values()}
    if "BELOW" in verdicts:
        return _BELOW
    if "NOT MEASURED" in verdicts:
        return CoreError.exit_code
    if verdicts <= {"UNKNOWN"}:
        return NothingExpected.exit_code
    return _STRICT if strict and verdicts & {"UNSURE", "UNKNOWN"} else 0
