"""The published studies: under their own conditions nameplate reproduces their values, and all are in a table."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec
import pytest

from machines import MACHINE, machine_with
from nameplate.planning.budget import shortened_percent
from nameplate.planning.plan_file import build_plan, read_plan, shipped_plans
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.plan_record import Experiment
from nameplate.records.result import Quantity, Report, Series
from nameplate.records.run_record import Reference, Work
from nameplate.records.study_record import StudyCell
from nameplate.report.content.study_tables import MAX_WIDTH, ratio, study_table
from nameplate.report.exports.study import export
from nameplate.report.terminal.run import table_lines
from nameplate.results.reference_tools import reference_table
from nameplate.studies import StudyRun, make_study, study_names, with_study
from nameplate.studies._conditions import conditions_table
from nameplate.studies._units import FACTORS
from nameplate.studies.published import Published, published
from study_runs import FACTS, Given, cells_of, machine, plan_of, report_of, table_of

STUDIES = ("cs553-kvm", "cse557-now", "distributed-stream", "t2micro-cloud", "t2micro-posix")
ON_ONE_MACHINE = ("cs553-kvm", "t2micro-cloud", "t2micro-posix")
FOLDER = Path(__file__).parents[3] / "src" / "nameplate" / "studies" / "published"
MIB = 2**20
# The number of bytes that the document calls 1 MB in its throughputs.
MEGABYTE = {"cs553-kvm": MIB, "t2micro-cloud": 10**6, "t2micro-posix": MIB}
# The bytes of a message that the document counts for each round trip.
MESSAGE = {"cs553-kvm": 65_505}
OPERATIONS = 1000
# The machines of the documents: clock frequency and cores.
MACHINES = {"cs553-kvm": machine(3.049e9, 2), "t2micro-cloud": machine(2.5e9, 1), "t2micro-posix": machine(2.5e9, 1)}


def generic(_: Experiment) -> tuple[Work, float]:
    return Work(10**9, 10**9, OPERATIONS), 1.0


def as_published(plan: str, experiment: Experiment) -> tuple[Work, float]:
    """Return the work and time that the core would report on the document's machine, from the printed throughput."""
    params = experiment.params
    printed = _printed(plan, experiment)
    if printed is None:
        return generic(experiment)
    if experiment.probe.startswith("cpu_"):
        return Work(0, round(printed * 1e9), round(printed * 1e9)), 1.0
    block = int(params.get("block", params.get("payload", 0)))
    if experiment.probe == "net_pingpong":
        # The core counts a message and its answer; the document counts one message per round trip.
        return Work(2 * OPERATIONS * block, 0, OPERATIONS), OPERATIONS * block / (printed * MEGABYTE[plan])
    return Work(OPERATIONS * block, 0, OPERATIONS), OPERATIONS * block / (printed * MEGABYTE[plan])


def _printed(plan: str, experiment: Experiment) -> float | None:
    """Return the throughput or rate that the document prints for an experiment."""
    params = experiment.params
    if experiment.interval_s or "pass" in params:
        return None
    threads = params.get("threads", params.get("connections"))
    for p in published(plan):
        is_work = (p.probe, p.threads) == (experiment.probe, threads) and p.metric in ("bandwidth", "rate")
        same = (p.op or params.get("op", params.get("mix", "")), p.pattern or params.get("pattern", "")) == (
            params.get("op", params.get("mix", "")), params.get("pattern", ""))  # fmt: skip
        blocks = p.block_bytes in (None, params.get("block")) or (experiment.probe == "net_pingpong" and _is_message(
            plan, p, params))  # fmt: skip
        if is_work and same and blocks and p.protocol in ("", params.get("protocol")) and "series" not in p.table:
            return p.value
    return None


def _is_message(plan: str, p: Published, params: Mapping[str, object]) -> bool:
    sent = MESSAGE.get(plan) or (min(p.block_bytes or 0, 65_507) if p.protocol == "udp" else p.block_bytes)
    return params["payload"] == sent


@pytest.mark.parametrize("plan", ON_ONE_MACHINE)
def test_the_published_throughputs_and_rates_are_reproduced(plan: str, described: dict[str, ProbeInfo]) -> None:
    """Simulate a run on the document's machine with its throughputs, and expect the same values."""
    report = document_of(plan, described)
    assert report.study
    for table in report.study.tables:
        if table.title.startswith(("CPU", "Memory", "Disk", "Network")) and "latency" not in table.title:
            for position, cell in cells_of(table).items():
                if isinstance(cell.published, float):
                    assert cell.here == pytest.approx(cell.published, rel=1e-6), (table.title, position)


SECONDS = {"ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
# The documents contradict themselves here: the latency is not the block size divided by the throughput.
CONTRADICTED = {
    ("t2micro-cloud", "write", "random", "1", "2"), ("t2micro-cloud", "read", "random", "1", "2"),
    ("t2micro-cloud", "read", "random", "1024", "1"),
}  # fmt: skip


def printed_latencies(plan: str) -> dict[float, str]:
    """Return the printed latencies by their value in seconds, without those of unknown unit or in contradiction."""
    with (FOLDER / f"{plan}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "latency" and row["corrected_unit"]]
    return {
        float(row["value"]) * SECONDS[row["corrected_unit"]]: f"{row['value']} {row['corrected_unit']}" for row in rows
        if (plan, row["op"], row["pattern"], row["block_bytes"], row["threads"]) not in CONTRADICTED
    }  # fmt: skip


def last_digit_s(printed: str) -> float:
    """Return one unit in the last printed digit, in seconds."""
    value, unit = printed.split()
    mantissa, _, exponent = value.lower().partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))) * SECONDS[unit]


@pytest.mark.parametrize("plan", ["cs553-kvm", "t2micro-cloud"])
def test_the_published_latencies_follow_from_the_throughputs(plan: str, described: dict[str, ProbeInfo]) -> None:
    """The latency is the block size divided by the throughput of all threads, to the last printed digit."""
    report = document_of(plan, described)
    printed = printed_latencies(plan)
    ratios = {}
    for here_s, published_s in latencies_of(report):
        text = next((t for value, t in printed.items() if value == pytest.approx(published_s, rel=1e-12)), None)
        if text is not None:
            assert here_s == pytest.approx(published_s, abs=1.001 * last_digit_s(text)), text
            ratios[text] = here_s
    assert len(ratios) == len(printed)


def test_the_repeats_of_a_study_explain_the_deviation_of_its_latencies(described: dict[str, ProbeInfo]) -> None:
    """The document averages the latencies of three repeats, which is not the block size divided by the mean rate."""
    pairs = latencies_of(document_of("t2micro-posix", described))
    assert len(pairs) == 36
    for here_s, published_s in pairs:
        assert here_s == pytest.approx(published_s, rel=0.075)


def document_of(plan: str, described: dict[str, ProbeInfo]) -> Report:
    where = MACHINES[plan]
    return report_of(plan_of(plan, described, where), described, partial(as_published, plan), Given(where))


def latencies_of(report: Report) -> list[tuple[float, float]]:
    """Return the measured and the published latencies in seconds."""
    assert report.study
    return [
        (cell.here * SECONDS[table.columns[0].unit], cell.published * SECONDS[table.columns[0].unit])
        for table in report.study.tables if "latency" in table.title
        for cell in cells_of(table).values() if isinstance(cell.here, float) and isinstance(cell.published, float)
    ]  # fmt: skip


def test_the_latency_measured_by_nameplate_has_its_own_line(described: dict[str, ProbeInfo]) -> None:
    """With n threads, an operation is in flight n times as long as the block size ÷ the throughput of all threads."""
    table = table_of(document_of("cs553-kvm", described), "Disk latency, 8 B blocks")
    assert table.alternative == "in flight"
    cells = cells_of(table)
    for threads in (1, 2, 4, 8):
        cell = cells["sequential read", f"{threads} thread{'s' if threads > 1 else ''}"]
        assert isinstance(cell.here, float)
        assert cell.alternative == pytest.approx(threads * cell.here)


def test_a_network_message_counts_once(described: dict[str, ProbeInfo]) -> None:
    cell = cells_of(table_of(document_of("cs553-kvm", described), "Network throughput"))["TCP", "8 threads"]
    assert cell.here == pytest.approx(142.2203617)
    assert cell.alternative == pytest.approx(2 * 142.2203617)


def value_of(report: Report, title: str, row: str) -> StudyCell:
    return cells_of(table_of(report, title))[row, "value"]


@pytest.mark.parametrize("plan", ON_ONE_MACHINE)
def test_a_linpack_above_the_peak_is_explained(plan: str, described: dict[str, ProbeInfo]) -> None:
    report = report_of(plan_of(plan, described), described, generic)
    cells = cells_of(table_of(report, "Theoretical peak of the CPU"))
    cell = next(cell for (row, _), cell in cells.items() if row == "highest LINPACK, GFLOP/s")
    assert cell.here is not None
    assert re.search("exceeds? this peak", " ".join(cell.remarks))


PEAKS = [("cs553-kvm", 12.196, 20.85), ("t2micro-cloud", 20.0, 40.0), ("t2micro-posix", 10.0, 4.269)]


@pytest.mark.parametrize(("plan", "peak", "share"), PEAKS)
def test_the_published_theoretical_peak_is_reproduced(
    plan: str, peak: float, share: float, described: dict[str, ProbeInfo]
) -> None:
    """The peak is clock × cores × operations per cycle; the CPU table reaches a share of it."""
    report = document_of(plan, described)
    cell = value_of(report, "Theoretical peak of the CPU", "theoretical peak, GFLOP/s")
    assert cell.here == pytest.approx(peak)
    assert cell.published == pytest.approx(peak)
    reached = value_of(report, "Theoretical peak of the CPU", "highest GFLOPS of the CPU table, % of the peak")
    assert reached.here == pytest.approx(share, rel=1e-3)
    assert reached.published == pytest.approx(share, rel=1e-3)


def test_the_memory_peak_is_of_this_machine_alone(described: dict[str, ProbeInfo]) -> None:
    """The document gives a formula without a value; its 28.05 is the sum of STREAM's rates."""
    plan = plan_of("cs553-kvm", described)
    report = report_of(plan, described, generic, Given(rated={"memory B/s": 20e9}))
    cell = value_of(report, "Theoretical memory bandwidth", "theoretical peak, GB/s")
    assert cell.here == pytest.approx(20)
    assert cell.published is None
    share = value_of(report, "Theoretical memory bandwidth", "highest of STREAM, % of the peak")
    assert share.here == pytest.approx(100 * 1 / 20)
    assert share.published is None
    total = cells_of(table_of(report, "STREAM, 1 thread"))["sum of the four ÷ 1024", "best rate"]
    assert total.printed == "28.05"
    assert total.here == pytest.approx(4 * 1000 / 1024)
    rates = [float(p.text) for p in published("cs553-kvm") if p.probe == "stream"]
    assert f"{sum(rates) / 1024:.2f}" == total.printed


def test_published_values_are_shown_as_printed(described: dict[str, ProbeInfo]) -> None:
    report = document_of("cs553-kvm", described)
    table = table_of(report, "Memory throughput, sequential write")
    assert cells_of(table)["8 B", "1 thread"].printed == "1365.07732"
    row = next(row for row in study_table(table).rows if row[1] == "published")
    assert row[2] == "1365.07732"
    above = study_table(table).rows[0]
    assert above[2] == "1365.07732ᵃ"  # the run's value has as many digits
    assert study_table(table).notes[0] == "ᵃ 1 of 3 rounds."


@pytest.mark.parametrize("plan", ON_ONE_MACHINE)
def test_no_published_number_is_rounded_or_noisy(plan: str, described: dict[str, ProbeInfo]) -> None:
    """Every printed text is that of a document, but for a power of ten, or has four digits if it is computed."""
    report = document_of(plan, described)
    documents = {significant(text) for row in rows_of(plan) for text in (row["value"],)}
    fixed = {significant(text) for text in ("12.196", "3.049", "2.50", "2.5", "20", "10", "2.00", "48.9", "0.3")}
    for table in report.study.tables if report.study else []:
        for position, cell in cells_of(table).items():
            digits = significant(cell.printed)
            assert digits in documents | fixed or len(digits) <= 4, (table.title, position, cell.printed)


def significant(text: str) -> str:
    """Return the significant digits of a number."""
    return text.lower().partition("e")[0].replace(".", "").lstrip("-0")


def rows_of(plan: str) -> list[dict[str, str]]:
    """Return the rows of both files of published values."""
    rows = []
    for name in (plan, "more"):
        with (FOLDER / f"{name}.csv").open(newline="") as file:
            rows += [row for row in csv.DictReader(file) if row.get("study", plan) == plan]
    return rows


def test_the_csv_has_the_printed_digits_rounds_and_seconds(described: dict[str, ProbeInfo]) -> None:
    plan = plan_of("t2micro-posix", described)
    text = export(report_of(plan, described, partial(as_published, "t2micro-posix")))["tables.csv"]
    row = next(row for row in csv.DictReader(text.splitlines()) if row["table"] == "Memory copy, throughput")
    assert (row["row"], row["published"], row["rounds"]) == ("sequential 1 B", "36.338134", "1")
    assert float(row["seconds"]) == pytest.approx(OPERATIONS / (36.338134 * MIB))
    assert "1 of 3 rounds" in row["remarks"]


def test_a_lack_of_rounds_is_a_condition(described: dict[str, ProbeInfo]) -> None:
    report = report_of(plan_of("t2micro-posix", described), described, generic)
    conditions = table_of(report, "Conditions")
    here = dict(zip(conditions.rows, (row[0].here for row in conditions.cells), strict=True))
    assert re.fullmatch(r"1 to 1 of 3; (\d+) of \1 lack one", str(here["rounds"]))
    assert here["disk file, GB"] == pytest.approx(0.3)
    note = table_of(report, "Memory copy, throughput").notes[0]
    assert "last equally long" not in note


@pytest.mark.parametrize(("op", "peak"), [("read", 3.5), ("write", 3.1)])
def test_a_given_disk_bandwidth_has_its_share(op: str, peak: float, described: dict[str, ProbeInfo]) -> None:
    given = Given(rated={"disk B/s": 3.5e9, "disk_write B/s": 3.1e9})
    report = report_of(plan_of("t2micro-posix", described), described, generic, given)
    title = f"Theoretical bandwidth of the disk, {op}"
    assert value_of(report, title, "theoretical peak, GB/s").here == pytest.approx(peak)
    assert value_of(report, title, f"highest of the {op} tables, % of the peak").here == pytest.approx(100 / peak)


def test_a_given_link_has_its_share(described: dict[str, ProbeInfo]) -> None:
    report = report_of(plan_of("cs553-kvm", described), described, generic, Given(rated={"net B/s": 10e9 / 8}))
    share = value_of(report, "Theoretical network bandwidth", "bulk transfer over TCP, % of the peak")
    assert share.here == pytest.approx(80.0)


def test_iozone_is_compared_with_iozone_and_nameplate_is_shown_next_to_it(described: dict[str, ProbeInfo]) -> None:
    said = Reference(
        tool="iozone", version="3.489", command="iozone", work="reread, 8KiB records, 1280MiB file, page cache",
        metric="bandwidth", unit="B/s", value=396752 * 1024.0, reason="",
    )  # fmt: skip
    report = report_of(plan_of("cs553-kvm", described), described, generic, Given(references=[said]))
    table = table_of(report, "IOzone")
    cell = cells_of(table)["reread", "records of 8 KiB"]
    assert (table.here, table.alternative) == ("IOzone here", "nameplate here")
    assert cell.here == pytest.approx(396_752.0)
    assert cell.published == pytest.approx(396_752.0)
    assert cell.alternative == pytest.approx(1e9 / 1024)
    # IOzone's value has no rounds.
    assert (cell.rounds, cell.seconds) == (None, None)


@pytest.mark.parametrize("plan", ["cs553-kvm", "t2micro-posix"])
def test_the_values_of_iozone_are_those_of_the_plans_own_work(plan: str, described: dict[str, ProbeInfo]) -> None:
    (asked,) = [work for work in plan_of(plan, described).reference_works if work.tool == "iozone"]
    names = ("rewrite", "write", "read", "reread", "random read", "random write", "backward read", "record rewrite",
             "stride read", "fwrite", "frewrite", "fread", "freread")  # fmt: skip
    works = [
        f"{name}, {block} records, {asked.params['size']} file, page cache"
        for name in names for block in asked.params["block"].split(",")
    ]  # fmt: skip
    given = [
        Reference(tool="iozone", version="3", command="iozone", metric="bandwidth", unit="B/s", value=1e9, reason="",
                  work=work) for work in works
    ]  # fmt: skip
    report = report_of(plan_of(plan, described), described, generic, Given(references=given))
    cells = cells_of(table_of(report, "IOzone"))
    assert cells
    assert all(cell.here is not None for cell in cells.values())
    assert all(cell.alternative is not None for cell in cells.values())


def test_the_times_of_streams_loops_in_plain_c_are_shown_next_to_ours(described: dict[str, ProbeInfo]) -> None:
    names = {"average": 1e9, "fastest": 2e9, "slowest": 5e8}
    in_plain_c = [
        Reference(tool="plain_stream", version="1", command="plain-stream", work=f"add, {which} pass, arrays of 80 MB",
                  metric="bandwidth", unit="B/s", value=rate, reason="") for which, rate in names.items()
    ]  # fmt: skip
    report = report_of(plan_of("cs553-kvm", described), described, generic, Given(references=in_plain_c))
    cells = cells_of(table_of(report, "STREAM, 1 thread"))
    assert cells["Add", "best rate"].alternative == pytest.approx(2000)
    times = [cells["Add", f"{which} time"].alternative for which in ("avg", "min", "max")]
    assert times == pytest.approx([1e3 * FACTS["pass_bytes"] / rate for rate in names.values()])
    assert cells["Copy", "best rate"].alternative is None


def test_the_series_is_not_in_a_table(described: dict[str, ProbeInfo]) -> None:
    def work(experiment: Experiment) -> tuple[Work, float]:
        return (Work(0, 5 * 10**9, 5 * 10**9) if experiment.interval_s else Work(10**9, 10**9, 10**9)), 1.0

    report = report_of(plan_of("t2micro-cloud", described), described, work)
    assert cells_of(table_of(report, "CPU"))["GFLOP/s", "4 threads"].here == pytest.approx(1.0)
    series = cells_of(table_of(report, "Ten-minute series, mean"))["GFLOP/s", "4 threads"]
    assert series.here == pytest.approx(5.0)
    assert series.published == pytest.approx(36.573441772)


@pytest.mark.parametrize("plan", ON_ONE_MACHINE)
def test_every_published_value_has_a_measured_one(plan: str, described: dict[str, ProbeInfo]) -> None:
    """The full budget is used. IOzone's own values, and values that no DMI table states, are not part of the plan."""
    report = report_of(plan_of(plan, described), described, generic, Given(rated={"memory B/s": 1e10, "disk B/s": 1e9}))
    assert report.study
    missing = [
        (table.title, position) for table in report.study.tables for position, cell in cells_of(table).items()
        if cell.published is not None and cell.here is None and cell.alternative is None
        and not table.title.startswith("LINPACK, each") and "second client" not in position[0]
        and table.title != "Share of IOzone"
    ]  # fmt: skip
    series = [position for position in missing if position[0].startswith("iperf3")]
    assert missing == series
    assert len(series) == (7 * 4 if plan == "cs553-kvm" else 0)  # this run has three of the ten seconds


@pytest.mark.parametrize("plan", ON_ONE_MACHINE)
def test_every_published_value_reaches_a_table(plan: str, described: dict[str, ProbeInfo]) -> None:
    """Each row of both CSV files is the published value of a cell, in the unit that the table shows."""
    report = report_of(plan_of(plan, described), described, generic)
    assert report.study
    printed = [
        (cell.published, column.unit) for table in report.study.tables for row in table.cells
        for column, cell in zip(table.columns, row, strict=True) if cell.published is not None
    ]  # fmt: skip
    numbers = [value * FACTORS[unit] for value, unit in printed if isinstance(value, float)]
    message = " ".join(value for value, _ in printed if isinstance(value, str))
    for item in published(plan):
        # A kB of IOzone is 1,024 B.
        factor = FACTORS["KiB/s" if item.corrected_unit == "kB/s" else item.corrected_unit or item.unit]
        plain = (item.value * factor, item.value)  # the unit of a theoretical peak is in the name of its row
        assert f"{item.value:g}" in message or any(n == pytest.approx(p, rel=1e-5) for n in numbers for p in plain), (
            item
        )


@pytest.mark.parametrize("plan", ON_ONE_MACHINE)
def test_tables_fit_100_columns_without_truncation(plan: str, described: dict[str, ProbeInfo]) -> None:
    report = document_of(plan, described)
    assert report.study
    for table in report.study.tables:
        lines = table_lines(study_table(table), MAX_WIDTH)
        assert max(line.cell_len for line in lines) <= MAX_WIDTH
        assert len(lines) == len(study_table(table).rows) + 1, lines


def test_a_run_on_an_emulated_processor_has_no_study(described: dict[str, ProbeInfo]) -> None:
    emulated = Given(machine_with(emulator="QEMU (TCG)"))
    report = report_of(plan_of("t2micro-posix", described), described, generic, emulated)
    assert report.study is None


def test_a_report_keeps_the_study_that_it_has(described: dict[str, ProbeInfo]) -> None:
    report = document_of("t2micro-posix", described)
    without_samples = msgspec.structs.replace(
        report, results=[msgspec.structs.replace(r, series=Series([], [], [], [])) for r in report.results]
    )
    assert with_study(without_samples) is without_samples


def test_other_plans_have_no_study() -> None:
    assert make_study(StudyRun(plan="quick", results=[], machine=MACHINE)) is None
    assert set(study_names()) == set(STUDIES)


@pytest.mark.parametrize("plan", STUDIES)
def test_every_published_value_is_read(plan: str) -> None:
    with (FOLDER / f"{plan}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    values = published(plan)
    assert [value.value for value in values] == [float(row["value"]) for row in rows]
    assert [value.unit for value in values] == [row["unit"] for row in rows]


def test_a_unit_that_cannot_be_derived_has_no_ratio(described: dict[str, ProbeInfo]) -> None:
    cell = cells_of(table_of(document_of("t2micro-cloud", described), "Network latency"))["TCP 1 B", "1 thread"]
    assert cell.published == "0.00204 ms (?)"
    assert ratio(cell) is None


def test_a_missing_value_has_a_reason(described: dict[str, ProbeInfo]) -> None:
    """An experiment that does not fit the budget is named below the table."""
    plan = build_plan(read_plan("cs553-kvm"), described, {"budget": "20min"}, MACHINE)
    table = table_of(report_of(plan, described, generic), "LINPACK, 2 threads")
    assert cells_of(table)["10,000", "average"].here is None
    assert any("left out: it needs --budget 45min" in note for note in table.notes)


def test_reference_tools_show_their_value_or_a_reason() -> None:
    said = Reference(
        tool="iozone", version="1", command="iozone -a", work="w", metric="bandwidth", unit="B/s", value=1e9, reason=""
    )
    missing = msgspec.structs.replace(said, tool="stream", value=None, reason="not installed")
    table = reference_table([said, msgspec.structs.replace(said, work="v"), missing])
    assert table.rows[0] == ["iozone 1: w", "bandwidth", Quantity(1e9, "B/s")]
    assert [row[0] for row in table.rows] == ["iozone 1: w", "iozone 1: v"]
    assert table.notes[1:] == ["iozone -a", "stream 1: not installed"]


@pytest.mark.parametrize("plan", ON_ONE_MACHINE)
def test_a_short_budget_is_kept_and_noted(plan: str, described: dict[str, ProbeInfo]) -> None:
    full = build_plan(read_plan(plan), described, {}, MACHINE)
    short = build_plan(read_plan(plan), described, {"budget": "12min"}, MACHINE)
    assert any(
        re.fullmatch(r"slices and series are shortened to \d+\.\d % of .*, to fit 720 s", note) for note in short.notes
    )
    length = shortened_percent(short.notes)
    assert length is not None
    conditions = conditions_table(StudyRun(plan=plan, results=[], machine=MACHINE, notes=short.notes), {})
    printed = dict(zip(conditions.rows, (row[0].here for row in conditions.cells), strict=True))
    assert printed["slices and series"] == f"{length} % of the plan's"
    assert sum(e.slice_s for e in short.experiments) < sum(e.slice_s for e in full.experiments) / 2
    # The size of a file depends on the free space and the available time.
    full_ids, short_ids = ({re.sub(r" size=\d+", "", e.id) for e in item.experiments} for item in (full, short))
    assert full_ids >= short_ids


def test_all_five_studies_are_shipped() -> None:
    assert set(STUDIES) <= set(shipped_plans())


def test_each_linpack_trial_has_the_residuals_of_intels_program(described: dict[str, ProbeInfo]) -> None:
    table = table_of(document_of("cs553-kvm", described), "LINPACK, each trial, 2 threads")
    cells = cells_of(table)
    for column, printed, here in (("residual", "9.394430e-13", 9e-13), ("residual (norm)", "3.203742e-02", 0.032)):
        cell = cells["1,000, 1", column]
        assert cell.printed == printed
        assert cell.here == pytest.approx(here)
    assert cells["1,000, 1", "LDA, align"].here == "1000, 4096"


def test_what_the_documents_print_besides_their_tables_is_shown(described: dict[str, ProbeInfo]) -> None:
    report = document_of("cs553-kvm", described)
    assert cells_of(table_of(report, "iperf3: TCP, one row per second"))["0–1 s", "transfer"].printed == "4.16"
    server = cells_of(table_of(report, "iperf3: TCP, one row per second"))["in all, server", "bandwidth"]
    assert server.printed == "41.9"
    shares = [row[0].published for row in table_of(report, "Share of IOzone").cells]
    assert shares == ["34 (?)", "36 (?)"]
    automatic = table_of(document_of("t2micro-cloud", described), "IOzone's automatic mode")
    assert cells_of(automatic)["freread", "1 MiB by 64 KiB"].printed == "12313351"
    assert cells_of(automatic)["stride-read", "1 MiB by 64 KiB"].published is None


def test_network_values_over_the_loopback_are_marked(described: dict[str, ProbeInfo]) -> None:
    """A run with a peer on another machine has neither the remark nor the addition to the title."""
    loopback = "over the loopback of this machine, without a network card"
    local = document_of("cs553-kvm", described)
    assert loopback in cells_of(table_of(local, "Network throughput"))["TCP", "1 thread"].remarks
    text = export(local)["tables.csv"]
    assert all(
        loopback in row["remarks"] for row in csv.DictReader(text.splitlines()) if row["table"].startswith("Network t")
    )
    assert local.study is not None
    assert "Network throughput, here over loopback" in [chart.title for chart in local.study.charts]
    remote = report_of(plan_of("cs553-kvm", described), described, generic, Given(facts={"is_local": 0.0}))
    assert remote.study is not None
    assert loopback not in cells_of(table_of(remote, "Network throughput"))["TCP", "1 thread"].remarks
    assert "Network throughput" in [chart.title for chart in remote.study.charts]


def test_the_loops_without_optimisation_are_compared_and_the_optimised_ones_are_shown(
    described: dict[str, ProbeInfo],
) -> None:
    def work(experiment: Experiment) -> tuple[Work, float]:
        operations = 10**9 if experiment.params.get("build") == "O0" else 4 * 10**9
        return Work(10**9, operations, operations), 1.0

    report = report_of(plan_of("t2micro-posix", described), described, work)
    table = table_of(report, "CPU")
    cell = cells_of(table)["GFLOP/s", "2 threads"]
    assert (table.alternative, cell.here, cell.alternative) == ("optimised", 1.0, 4.0)
    assert cells_of(table_of(report, "Ten-minute series, mean"))["GFLOP/s", "4 threads"].here == 1.0
    # The other studies have the optimised loops only.
    other = table_of(report_of(plan_of("cs553-kvm", described), described, work), "CPU")
    assert (other.alternative, cells_of(other)["GFLOP/s", "2 threads"].here) == ("", 4.0)


def test_offsets_come_from_rand_where_the_study_calls_it(described: dict[str, ProbeInfo]) -> None:
    def work(experiment: Experiment) -> tuple[Work, float]:
        n_bytes = MIB if experiment.params.get("generator") == "rand" else 3 * MIB
        return Work(n_bytes, 0, 1), 1.0

    posix = report_of(plan_of("t2micro-posix", described), described, work)
    cell = cells_of(table_of(posix, "Memory copy, throughput"))["sequential 1 B", "1 thread"]
    assert (cell.here, cell.alternative) == (1.0, 3.0)
    latency = cells_of(table_of(posix, "Memory copy, latency"))["sequential 1 B", "1 thread"]
    assert latency.here == pytest.approx(1e6 / MIB)
    assert latency.alternative == pytest.approx(1e6 / MIB / 3)
    kvm = report_of(plan_of("cs553-kvm", described), described, work)
    cell = cells_of(table_of(kvm, "Memory throughput, random write"))["8 B", "1 thread"]
    assert (cell.here, cell.alternative) == (1.0, 3.0)
    cell = cells_of(table_of(kvm, "Memory throughput, sequential write"))["8 B", "1 thread"]
    assert (cell.here, cell.alternative) == (3.0, None)
