"""gnuplot: for each figure of the report its data and a script that draws it, and ``all.gp`` that draws all of them."""

from __future__ import annotations

from nameplate.errors import UsageError
from nameplate.model import Report
from nameplate.report.gnuplot import data_and_script, quoted
from nameplate.report.named_charts import named_charts


def export(report: Report) -> dict[str, str]:
    """The files by their names. Raises UsageError for a run of which the report draws nothing."""
    files: dict[str, str] = {}
    for each in named_charts(report):
        files[f"{each.name}.dat"], files[f"{each.name}.gp"] = data_and_script(each.name, each.title, each.chart)
    if not files:
        raise UsageError("gnuplot draws the report's figures, and of this run the report has none: show it as a table")
    return {**files, "all.gp": "".join(f"load {quoted(name)}\n" for name in files if name.endswith(".gp"))}
