"""Export the JSON that the action benchmark-action/github-action-benchmark reads.

Source: https://github.com/benchmark-action/github-action-benchmark, the tools customBiggerIsBetter and
customSmallerIsBetter
"""

from __future__ import annotations

import json

from nameplate.records.result import Report, Result

_FILES = {"higher": "bigger-is-better.json", "lower": "smaller-is-better.json"}


def export(report: Report) -> dict[str, str]:
    """Return two files, since the action is told for a whole file whether higher values are better.

    They are ``bigger-is-better.json`` and ``smaller-is-better.json``, for the tools ``customBiggerIsBetter`` and
    ``customSmallerIsBetter``. Each has an array of the metrics that have a value, in the order of the report. ``name``
    is the id of the experiment with the metric, ``value`` the typical value in the SI base unit ``unit``, ``range`` the
    half width of its 95 % interval (left out if the interval is unknown), and ``extra`` says how many rounds it is
    from. A file without metrics has an empty array.
    """
    return {
        name: json.dumps([_entry(one) for one in report.results if _is_in(one, better)], indent=2, ensure_ascii=False)
        + "\n"
        for better, name in _FILES.items()
    }


def _is_in(result: Result, better: str) -> bool:
    return result.better == better and result.summary.value is not None


def _entry(result: Result) -> dict[str, object]:
    row = result.summary
    spread = {"range": f"± {(row.ci[1] - row.ci[0]) / 2:.4g}"} if row.ci else {}
    return {
        "name": f"{result.id} {row.metric}", "unit": row.unit, "value": row.value, **spread,
        "extra": f"rounds: {row.rounds}",
    }  # fmt: skip
