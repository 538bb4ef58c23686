"""The size of a report of the shipped plans: runs of all their experiments, with as many samples as fit."""

from __future__ import annotations

import random
from collections.abc import Mapping

import msgspec
import pytest

from machines import GUEST
from nameplate.planning.budget import MIN_ROUNDS
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.planning.sweep import ProbeInfo
from nameplate.probes import probe_of
from nameplate.records.plan_record import Experiment, Value
from nameplate.records.result import Report, Result, Series
from nameplate.report.content.aliases import without_names
from nameplate.report.html.document import DETAILS, QUICK_LIMIT, SIZE_LIMIT
from nameplate.report.html.page import render
from report_samples import report, swept

# The duration of a calibrated sample.
SAMPLE_S = 0.01
DISTURBED = 0.05


def run_of(name: str, described: Mapping[str, ProbeInfo]) -> Report:
    """Return a run whose values and times have all their digits, as measured ones do, which compresses worst."""
    plan = build_plan(read_plan(name), described, {}, GUEST)
    noise = random.Random(1)
    results = [
        item for experiment in plan.experiments for item in results_of(experiment, described[experiment.probe], noise)
    ]
    made = report(results)
    return msgspec.structs.replace(made, run=msgspec.structs.replace(made.run, plan=plan))


def results_of(experiment: Experiment, info: ProbeInfo, noise: random.Random) -> list[Result]:
    params: dict[str, Value] = {"size": 1 << 26, "threads": 1, **experiment.params}
    facts = {named.name: noise.random() * 1e9 for named in info.facts}
    facts |= {"touched_bytes": 1e9, "last_level_bytes": 1e7, "offset_s": 1e-9, "file_bytes": 1e9, "memory_bytes": 8e9}
    number = MIN_ROUNDS * max(1, round(experiment.slice_s / (experiment.sample_s or SAMPLE_S)))
    times = sorted(noise.uniform(0, 1800) for _ in range(number))
    disturbed = [noise.random() < DISTURBED for _ in times]
    rounds = [1 + index * MIN_ROUNDS // number for index in range(number)]
    results = []
    for metric in probe_of(experiment.probe).metrics:
        value = noise.uniform(1e-6, 9e-6) if metric.unit == "s" else noise.uniform(1e9, 9e9)
        made = swept(experiment.probe, params, value, metric.name, metric.unit, facts=facts)
        values = [] if metric.is_detail else [value * noise.gauss(1, 0.01) for _ in times]
        series = Series(times, values, disturbed, rounds) if values else Series([], [], [], [])
        medians = [value * noise.gauss(1, 0.01) for _ in range(MIN_ROUNDS)]
        results.append(
            msgspec.structs.replace(
                made, id=experiment.id, series=series, round_values=medians, is_detail=metric.is_detail
            )
        )
    return results


@pytest.mark.parametrize(("name", "limit", "detail"), [("quick", QUICK_LIMIT, 0), ("full", SIZE_LIMIT, -1)])
def test_the_report_of_a_shipped_plan_fits(described: dict[str, ProbeInfo], name: str, limit: int, detail: int) -> None:
    """quick fits with all details; full may have to leave some out."""
    page = render(without_names([run_of(name, described)]), DETAILS[detail])
    assert len(page.encode()) <= limit
