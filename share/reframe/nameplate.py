"""Measure a node with nameplate, as a test of ReFrame; ``reframe --distribute`` makes a job for each node.

    reframe -c nameplate.py -r -S NameplateTest.site=/etc/nameplate/site.toml --distribute=idle

The whole plan runs in one job. With a site file, which ``nameplate check --learn`` writes, the values that it has
ranges for are the performance variables, and their ranges the references. Without one, all values are performance
variables, without references.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class NameplateTest(rfm.RunOnlyRegressionTest):
    """Run a plan of nameplate on a node, and compare its values with a site file.

    ``plan`` is a plan or the path of a plan file, and ``budget`` its time, "" for that of the plan. ``site`` is the
    site file, "" for none. Set them with -S.
    """

    descr = "CPU, memory, disk and network of a node by nameplate"
    valid_systems = ["*"]  # noqa: RUF012 (ReFrame copies it)
    valid_prog_environs = ["*"]  # noqa: RUF012
    plan = variable(str, value="quick")
    budget = variable(str, value="")
    site = variable(str, value="")
    num_tasks = 1
    # Other jobs on the node would disturb the measurement.
    exclusive_access = True
    executable = "nameplate"

    @run_before("run")
    def set_command(self) -> None:
        """Measure, and export the values next to the run file."""
        budget = ["--budget", self.budget] if self.budget else []
        self.executable_opts = [shlex.quote(text) for text in ("run", self.plan, *budget, "-o", "run.jsonl")]
        judge = f"check run.jsonl --expect {shlex.quote(self.site)} --json"
        export = judge if self.site else "show run.jsonl --format json"
        self.postrun_cmds = ["echo $? > exit-code", f"nameplate {export} > values.json"]

    @sanity_function
    def has_values(self) -> object:
        """Check that the run has values, and that everything could be measured and was right."""
        return sn.all([
            sn.assert_true(self.values(), "the run has no value; nameplate's messages are in the job's standard error"),
            sn.assert_found(r"^0$", "exit-code", "nameplate run ended with another exit code than 0"),
        ])  # fmt: skip

    @run_before("performance")
    def set_references(self) -> None:
        """Take performance variables and their references from the values."""
        references = {}
        self.perf_variables = {}
        for value in self.values():
            name = re.sub(r"\W+", "_", f"{value['experiment']} {value['metric']}").strip("_")
            self.perf_variables[name] = sn.make_performance_function(sn.defer(value["value"]), value["unit"])
            if expected := value["expected"]:
                typical = expected["typical"]
                below, above = expected["low"] / typical - 1, expected["high"] / typical - 1
                # A value on the better side of its range is no failure.
                ends = (below, None) if value["better"] == "higher" else (None, above)
                references[name] = (typical, *ends, value["unit"])
        if references:
            self.reference = {"*": references}

    def values(self) -> list[dict[str, Any]]:
        """Return the values of the run with their expected ranges, None without a site file."""
        document = json.loads((Path(self.stagedir) / "values.json").read_text() or "{}")
        if "values" in document:
            return [value for value in document["values"] if value["value"] is not None]
        if "rows" not in document:
            return []
        with (Path(self.stagedir) / "run.jsonl").open() as file:
            planned = json.loads(file.readline())["plan"]["experiments"]
        return [
            {"experiment": _experiment_of(row, planned), "metric": row["metric"], "value": row["value"],
             "unit": row["unit"], "better": None, "expected": None}
            for row in document["rows"] if row["value"] is not None
        ]  # fmt: skip


def _experiment_of(row: dict[str, Any], planned: list[dict[str, Any]]) -> str:
    """Return the id of the experiment of a row, whose parameters include those with automatic values."""
    alike = [
        experiment for experiment in planned
        if experiment["probe"] == row["probe"] and experiment["params"].items() <= row["params"].items()
    ]  # fmt: skip
    return str(max(alike, key=lambda experiment: len(experiment["params"]))["id"]) if alike else str(row["probe"])
