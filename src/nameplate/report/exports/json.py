"""Export JSON: ``{"schema", "machine", "plan", "headline", "rows"}``, values in SI base units."""

from __future__ import annotations

import msgspec

from nameplate.probes.interface.pair_matrix import PairValues
from nameplate.probes.shared.median_pair import measured_pairs
from nameplate.records.result import Report, Result
from nameplate.records.run_record import SCHEMA
from nameplate.report.content.first_screen import first_screen


def export(report: Report) -> str:
    """Return one indented JSON object with the keys ``schema``, ``machine``, ``plan``, ``headline`` and ``rows``.

    ``schema`` is the number ``SCHEMA``, the version of the record format. ``machine`` is the machine record, or ``{}``
    if the run has none. ``plan`` is the name of the plan. ``headline`` is the content of the first screen, with the
    fields of ``FirstScreen``. ``rows`` has one object per metric of each experiment, with the fields of ``Summary``;
    an unknown value is null. If the values were imported from other tools, the key ``imported`` has the name, the tool,
    the version of the tool and the SHA-256 of each imported file.

    If an experiment measured pairs (of CPUs, for example), the key ``pair_matrices`` has one object per such
    experiment: ``id`` of the experiment; ``name``, ``unit`` and ``better`` ("higher" or "lower") of the values;
    ``roles``, the roles of a row and of a column; ``parties``, each with ``name`` and ``group``; ``groups``, lists of
    the indices of parties that are closer to each other than to all others (``find_groups``); and ``values``, one list
    per row. A value is null if it is missing; the diagonal is null unless a party was measured with itself.
    """
    rows = [msgspec.to_builtins(result.summary) for result in report.results]
    document: dict[str, object] = {
        "schema": SCHEMA,
        "machine": report.machine or {},
        "plan": report.run.plan.name,
        "headline": first_screen(report),
        "rows": rows,
    }
    if report.imported:
        document["imported"] = report.imported
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    if matrices := [_matrix(result, pairs) for result, pairs in measured_pairs(report.results, report.machine)]:
        # Indented, the matrix of 1,024 nodes would have a million lines.
        text = text.removesuffix("\n}") + f',\n  "pair_matrices": {msgspec.json.encode(matrices).decode()}\n}}'
    return text + "\n"


def _matrix(result: Result, pairs: PairValues) -> dict[str, object]:
    return {
        "id": result.id,
        "name": pairs.matrix.name,
        "unit": pairs.matrix.unit,
        "better": pairs.matrix.better,
        "roles": pairs.matrix.roles,
        "parties": [party._asdict() for party in pairs.parties],
        "groups": pairs.groups,
        "values": pairs.rows(),
    }
