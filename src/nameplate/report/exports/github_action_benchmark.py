"""Export the JSON files that the GitHub action github-action-benchmark reads.

Source: https://github.com/benchmark-action/github-action-benchmark, the tools customBiggerIsBetter and
customSmallerIsBetter
"""

from __future__ import annotations

import json

from nameplate.records.result import Report, Result

_FILES = {"higher": "bigger-is-better.json", "lower": "smaller-is-better.json"}


def export(report: Report) -> dict[str, str]:
    """Return the JSON texts of two files by file name: one for rates, one for times.

    The action has one setting per file for whether higher values are better. The files are ``bigger-is-better.json``
    for the tool ``customBiggerIsBetter`` and ``smaller-is-better.json`` for ``customSmallerIsBetter``. Each file has an
    array with one object per metric that has a value, in the order of the report: ``name`` is the id of the experiment
    and the metric, ``value`` the typical value in the SI base unit ``unit``, ``range`` the half width of the 95 %
    interval, such as ``± 1.2e+08`` (left out if the interval is unknown), and ``extra`` the number of rounds, such as
    ``rounds: 6``. If no metric belongs in a file, the array is empty.
    """
    measured = [result for result in report.results if result.summary.value is not None]
    files = {}
    for better, name in _FILES.items():
        entries = [_entry(result) for result in measured if result.better == better]
        files[name] = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
    return files


def _entry(result: Result) -> dict[str, object]:
    row = result.summary
    spread = {"range": f"± {(row.ci[1] - row.ci[0]) / 2:.4g}"} if row.ci else {}
    return {
        "name": f"{result.id} {row.metric}", "unit": row.unit, "value": row.value, **spread,
        "extra": f"rounds: {row.rounds}",
    }  # fmt: skip
