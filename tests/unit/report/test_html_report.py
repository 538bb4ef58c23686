"""The content of an HTML report, and what it must not contain."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from machines import GUEST, HOST, machine_with
from nameplate.errors import FileError
from nameplate.records.plan_record import Experiment, Value
from nameplate.records.result import Quantity, Rated, Report, Result, Series, Table
from nameplate.records.run_record import Reference
from nameplate.report.charts.bars import efficiencies
from nameplate.report.charts.common import LINES_IN_A_CHART, Chart
from nameplate.report.charts.over_time import over_time, sample_states, thin
from nameplate.report.charts.scaling import thread_scaling
from nameplate.report.charts.side_by_side import append_side_by_side_chart
from nameplate.report.content.aliases import without_names
from nameplate.report.content.experiments import headlines
from nameplate.report.content.first_screen import MAX_WARNINGS
from nameplate.report.content.machine_verdict import judged_by
from nameplate.report.content.remarks import remarks
from nameplate.report.content.repeat_commands import repeat_command
from nameplate.report.content.result_rows import MAX_EXPERIMENTS
from nameplate.report.content.side_by_side import side_by_side
from nameplate.report.html.cards import Card, make_card
from nameplate.report.html.document import DETAILS, SIZE_LIMIT, write_html
from nameplate.report.html.embed import read_embedded
from nameplate.report.html.page import Detail, render
from nameplate.results.measurements import RunFile
from nameplate.results.summarise import summarise
from report_samples import (
    block_results,
    failed,
    latency_at,
    memory_report,
    read_at,
    report,
    result,
    scaling_results,
    series,
    sizes,
    with_summary,
)
from run_samples import header, plan, run

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>{{ 7*7 }}"


class Page(HTMLParser):
    """The tags of a page with their attributes, and its visible text without scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.arguments: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open not in ("script", "style"):
            self.arguments.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.arguments).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def cards_of(complete: Report) -> list[Card]:
    groups: dict[str, list[Result]] = {}
    for one in complete.results:
        groups.setdefault(one.summary.probe, []).append(one)
    return [make_card(probe, complete, results, 2000, []) for probe, results in groups.items()]


def rated_at(made: Result, rated: float) -> Result:
    share = (made.summary.value or 0.0) / rated
    named = with_summary(made, rated=rated, efficiency=share)
    return msgspec.structs.replace(named, efficiency_ci=(share, share), rated=Rated(rated, "by hand"))


def page_of(*reports: Report) -> Page:
    return Page(render(without_names(reports), DETAILS[0]))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    write_html([report(scaling_results(), notes=[f"seen on {HOST}"])], path)
    return path


class TestFile:
    def test_is_small_and_has_no_companion_files(self, written: Path) -> None:
        assert written.stat().st_size <= SIZE_LIMIT
        assert [path.name for path in written.parent.iterdir()] == ["report.html"]

    def test_replaces_an_older_report(self, written: Path) -> None:
        write_html([report([result({"threads": 1})])], written)
        assert len(read_embedded(written)[0].results) == 1

    def test_a_missing_directory_is_a_file_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="cannot write"):
            write_html([report([])], tmp_path / "nowhere" / "report.html")

    def test_a_directory_is_a_file_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="not a regular file"):
            write_html([report([])], tmp_path)

    @pytest.mark.slow
    def test_a_very_long_run_still_fits(self, tmp_path: Path) -> None:
        source = random.Random(1)
        long = [result({"threads": 1, "n": n}, samples=series([5e10 * source.gauss(1, 0.01) for _ in range(3000)]))
                for n in range(1, 91)]  # fmt: skip
        path = tmp_path / "long.html"
        write_html([report(long)], path)
        assert path.stat().st_size <= SIZE_LIMIT
        assert "not their single samples" in path.read_text(encoding="utf-8")
        assert [r.summary for r in read_embedded(path)[0].results] == [r.summary for r in map(as_read, long)]

    @pytest.mark.parametrize(
        ("samples", "points"),
        [(20, [200, 60]), (100, [200, 200, 60]), (300, [500, 200, 200, 60]), (3000, [2000, 500, 200, 200, 60])],
    )
    def test_no_page_is_made_twice(
        self, samples: int, points: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        details: list[Detail] = []
        pages: list[str] = []

        def rendered(reports: list[Report], detail: Detail, *rest: Any) -> str:
            details.append(detail)
            pages.append(render(reports, detail, *rest))
            return pages[-1]

        monkeypatch.setattr("nameplate.report.html.document.render", rendered)
        monkeypatch.setattr("nameplate.report.html.document.SIZE_LIMIT", 0)
        write_html(
            [report([result({"threads": 1}, samples=series([5e10 + i for i in range(samples)]))])], tmp_path / "x"
        )
        assert [detail.points for detail in details] == points
        assert len(set(pages)) == len(pages)

    def test_a_run_of_large_sweeps_fits_with_its_samples(self, tmp_path: Path) -> None:
        path = tmp_path / "sweeps.html"
        fine = [round(1024 * 2 ** (step / 8)) for step in range(150)]
        swept = [
            with_summary(msgspec.structs.replace(at(size), series=samples), metric=metric)
            for at, first in ((latency_at, "latency"), (read_at, "bandwidth"))
            for size in fine for samples in [series([5e10 + i * size for i in range(20)])]
            for metric in (first, "second", "third")
        ]  # fmt: skip
        write_html([report(swept)], path)
        assert path.stat().st_size <= SIZE_LIMIT
        assert "not their single samples" not in path.read_text(encoding="utf-8")


class TestNothingIsFetched:
    def test_no_attribute_names_another_resource(self, written: Path) -> None:
        page = Page(written.read_text(encoding="utf-8"))
        keys = ("src", "href", "action", "data", "srcset")
        named = [attributes[key] or "" for _, attributes in page.tags for key in keys if key in attributes]
        assert named
        assert all(target.startswith("#") for target in named)

    def test_neither_style_nor_script_names_an_address(self, written: Path) -> None:
        text = written.read_text(encoding="utf-8")
        assert not re.search(r"https?://|@import|url\(", text)

    def test_a_policy_forbids_it(self, written: Path) -> None:
        policies = [
            attributes["content"] or ""
            for attributes in Page(written.read_text(encoding="utf-8")).all("meta")
            if attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        assert len(policies) == 1
        assert policies[0].startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe-eval" not in policies[0]


def as_read(made: Result) -> Result:
    """Return a result of cpu_flops with the parameters that reports of earlier versions lack."""
    params = {**made.summary.params, "build": "optimised", "ends": "work"}
    return msgspec.structs.replace(made, summary=msgspec.structs.replace(made.summary, params=params))


class TestEmbeddedData:
    def test_reads_back_what_was_written(self, tmp_path: Path) -> None:
        reports = [report(scaling_results()), report([result({"threads": 1, "mix": "ä<&"})], host="other")]
        write_html(reports, tmp_path / "r.html")
        expected = [
            msgspec.structs.replace(one, results=[*map(as_read, one.results)]) for one in without_names(reports)
        ]
        assert read_embedded(tmp_path / "r.html") == expected

    def test_a_single_sample_has_six_digits(self, tmp_path: Path) -> None:
        write_html([report([result({"threads": 1}, samples=series([123456789.0, 0.1 + 0.2]))])], tmp_path / "r.html")
        assert read_embedded(tmp_path / "r.html")[0].results[0].series.value == [123457000.0, 0.3]

    def test_only_the_names_differ(self, written: Path) -> None:
        (read,) = read_embedded(written)
        assert read.results == [*map(as_read, scaling_results())]
        assert read.machine is not None
        assert read.machine.hostname == "machine 1"

    def test_a_parameter_that_an_earlier_version_did_not_have_is_added(self, tmp_path: Path) -> None:
        params: dict[str, Value] = {"size": 8, "pairs": 1, "pairing": "block"}
        old = msgspec.structs.replace(result(params, probe="mpi_pingpong"), facts={"pairs_between_nodes": 0.0})
        write_html([report([old])], tmp_path / "r.html")
        (read,) = read_embedded(tmp_path / "r.html")
        assert read.results[0].summary.params == {**params, "data": "echo"}
        assert read.run.plan.experiments[0].params == {**params, "data": "echo"}

    @pytest.mark.parametrize("text", ["", "<html></html>"])
    def test_another_file_is_a_file_error(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "other.html").write_text(text, encoding="utf-8")
        with pytest.raises(FileError, match="not a nameplate report"):
            read_embedded(tmp_path / "other.html")

    def test_damaged_data_is_a_file_error(self, written: Path) -> None:
        text = written.read_text(encoding="utf-8")
        written.write_text(text.replace('id="nameplate-data">H4sI', 'id="nameplate-data">H4sIxx'), encoding="utf-8")
        with pytest.raises(FileError, match="cannot be read"):
            read_embedded(written)

    def test_a_missing_file_is_a_file_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="cannot read"):
            read_embedded(tmp_path / "none.html")


class TestNames:
    def test_the_host_name_is_nowhere(self, written: Path) -> None:
        assert HOST not in written.read_text(encoding="utf-8")
        assert HOST not in msgspec.json.encode(read_embedded(written)).decode()

    def test_the_host_name_is_not_in_reasons_sources_or_notes(self) -> None:
        broken = failed({"threads": 1}, "failed", f"cannot reach {HOST}:5201")
        (hidden,) = without_names([report([broken], notes=[f"{HOST} was busy"])])
        assert hidden.results[0].summary.reason == "cannot reach machine 1:5201"
        assert hidden.notes == ["machine 1 was busy"]

    def test_the_host_name_is_not_in_the_values_of_reference_tools(self) -> None:
        refused = Reference(
            tool="iperf3", version="3.12", command=f"iperf3 -c {HOST}", work="TCP", metric="bandwidth", unit="B/s",
            value=None, reason=f"cannot reach {HOST}",
        )  # fmt: skip
        (hidden,) = without_names([msgspec.structs.replace(report([]), references=[refused])])
        assert (hidden.references[0].command, hidden.references[0].reason) == (
            "iperf3 -c machine 1",
            "cannot reach machine 1",
        )

    def test_a_part_of_a_word_is_not_a_name(self) -> None:
        (hidden,) = without_names([report([], notes=["vmx and a-vm.org"], host="vm")])
        assert hidden.notes == ["vmx and a-vm.org"]

    @pytest.mark.parametrize(
        ("message", "hidden"),
        [
            ("no peer answers at 192.0.2.7:7477: timed out", "no peer answers at (address): timed out"),
            ("[2001:db8::1]:80; 10.0.0.1", "(address); (address)"),
            ("nameplate 0.1.0 took 1.5 s, Linux 6.18.44-v6", "nameplate 0.1.0 took 1.5 s, Linux 6.18.44-v6"),
        ],
    )
    def test_no_address_is_in_a_report(self, message: str, hidden: str) -> None:
        assert without_names([report([], notes=[message])])[0].notes == [hidden]

    def test_runs_of_one_machine_share_an_alias(self) -> None:
        hidden = without_names([report([]), report([], host="b"), report([])])
        assert [r.machine.hostname for r in hidden if r.machine] == ["machine 1", "machine 2", "machine 1"]

    def test_the_path_of_a_cut_off_run_is_left_out(self) -> None:
        cut_off = RunFile("/home/alice/run.jsonl", run(plan("a")), [header()], [], None, 3, 0)
        text = render(without_names([summarise(cut_off)]), DETAILS[0])
        assert "The run file is incomplete" in text
        assert "alice" not in text


class TestEscaping:
    @pytest.fixture
    def page(self) -> Page:
        hostile = result({"file": HOSTILE, "threads": 1}, probe="cpu_flops")
        unknown = result({"threads": 1}, probe=HOSTILE)
        broken = failed({"file": HOSTILE}, "failed", HOSTILE)
        return page_of(report([hostile, unknown, broken], notes=[HOSTILE], host=HOSTILE))

    def test_markup_makes_no_tags(self, page: Page) -> None:
        assert len(page.all("script")) == 4
        assert not page.all("img")
        assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)

    def test_markup_is_shown_literally(self, page: Page) -> None:
        assert "{{ 7*7 }}" in page.text

    def test_commands_are_quoted_for_the_shell(self) -> None:
        assert (
            repeat_command(result({"file": "a b; rm -rf ~"}, probe="disk_block"))
            == "nameplate run disk_block 'file=a b; rm -rf ~'"
        )
        assert repeat_command(result({"duration": 1e-5}, probe="null")) == "nameplate run null duration=0.00001"


class TestRemarks:
    @pytest.mark.parametrize(
        ("outcome", "message"),
        [("failed", "could not be measured"), ("invalid", "a wrong result"), ("skipped", "skipped")],
    )
    def test_says_what_is_missing(self, outcome: str, message: str) -> None:
        bad = with_summary(failed({"threads": 1}, "failed", "a reason"), outcome=outcome)
        (hidden,) = without_names([report([bad])])
        assert any(message in remark and "1 experiment" in remark for remark in remarks(hidden))

    def test_says_that_the_machine_was_disturbed(self) -> None:
        noisy = with_summary(result({"threads": 1}), disturbed=0.4)
        assert any("machine was busy" in remark for remark in remarks(report([noisy])))

    def test_says_that_a_ceiling_was_exceeded(self) -> None:
        assert any("exceeded the ceiling" in remark for remark in remarks(report([result({"threads": 1}, 120e9)])))


class TestContent:
    def test_a_cut_off_run_is_shown(self) -> None:
        assert "The run file is incomplete" in page_of(report(scaling_results(), truncated=True)).text

    def test_an_empty_cut_off_run_without_a_machine(self) -> None:
        empty = msgspec.structs.replace(report([], truncated=True), machine=None, clock=None)
        assert "not recorded" in page_of(empty).text

    @pytest.mark.parametrize("outcome", ["failed", "invalid", "skipped"])
    def test_there_is_no_number_without_a_measurement(self, outcome: str) -> None:
        bad = with_summary(failed({"threads": 1}, "failed", "for a reason"), outcome=outcome)
        page = page_of(report([bad]))
        assert f"{outcome}: for a reason" in page.text
        assert "FLOP/s" not in page.text
        assert "reaches 0" not in page.text

    def test_a_tile_says_what_the_trust_depends_on(self) -> None:
        widths = [with_summary(result({"size": n}), ci=(50e9 * (1 - n / 100), 50e9 * (1 + n / 100)), disturbed=0.2)
                  for n in (2, 4, 10)]  # fmt: skip
        tile = render([report(widths)], DETAILS[0]).partition('<h3>Trust: <span class="trust low">low</span></h3>')[2]
        assert re.findall("<dt>(.*)</dt><dd>(.*)</dd>", tile)[:4] == [
            ("disturbed", "3 of 3 experiments"), ("rounds", "at least 6"), ("median interval", "±4.0 %"),
            ("widest interval", "±10.0 %"),
        ]  # fmt: skip

    def test_every_experiment_has_its_command(self) -> None:
        text = page_of(report(scaling_results())).text
        for one in headlines(scaling_results()):
            assert f"nameplate run {one.id}" in text

    def test_the_page_has_what_is_needed_to_repeat_the_run(self) -> None:
        limited = machine_with(GUEST, limits={"cpus": 1.5})
        text = page_of(msgspec.structs.replace(report(scaling_results()), machine=limited)).text
        for word in ("4711", "2026-01-02T03:04:05+00:00", "by hand", "tsc", "oversubscribed", "1.5 CPUs", "kvm guest"):
            assert word in text

    def test_several_runs_are_shown_side_by_side(self) -> None:
        assert "Runs side by side" in page_of(report(scaling_results()), report(scaling_results(), host="b")).text
        assert "Runs side by side" not in page_of(report(scaling_results())).text

    def test_better_values_are_to_the_right_in_a_comparison(self) -> None:
        first = [result({"threads": 1}, 4e10), latency_at(4096), failed({"threads": 3}, "failed", "no")]
        second = [with_summary(first[0], value=5e10), with_summary(first[1], value=4 * (first[1].summary.value or 0))]
        reports = [report(first), report([*second, result({"threads": 3})], host="b")]
        lines = side_by_side(reports)
        assert [(line.short, line.to_first) for line in lines[:2]] == [
            ("cpu_flops threads=1", [1.0, 1.25]), ("memory_latency", [1.0, 0.25]),
        ]  # fmt: skip
        interval = first[0].summary.ci
        assert interval
        # The second run has the interval of the first one, so the ratios of their ends lie around 1.
        assert lines[0].to_first_ci == [(interval[0] / interval[1], interval[1] / interval[0])] * 2
        without = report([with_summary(first[0], ci=None)], host="b")
        assert side_by_side([reports[0], without])[0].to_first_ci[1] is None
        charts: list[Chart] = []
        append_side_by_side_chart(lines, charts)
        (chart,) = charts
        assert "1 of 2 values are" in chart.meaning
        marks = next(points for points in chart.spec["datasets"].values() if "line" in points[0])
        assert [(mark["line"], mark["ratio"]) for mark in marks] == [("Run 2", 1.25), ("Run 2", 0.25)]
        assert "Relative to the first run" in page_of(*reports).text

    def test_a_comparison_without_a_shared_value_draws_nothing(self) -> None:
        runs = [report([failed({"threads": 1}, "failed", "no")]), report([result({"threads": 1})], host="b")]
        charts: list[Chart] = []
        assert not append_side_by_side_chart(side_by_side(runs), charts)
        assert not charts

    @pytest.mark.parametrize("complete", [report(scaling_results()), memory_report()])
    def test_is_accessible(self, complete: Report) -> None:
        page = page_of(complete)
        assert page.all("html")[0]["lang"] == "en"
        assert page.all("a")[0]["href"] == "#content"
        assert all("scope" in attributes for attributes in page.all("th"))
        assert len(page.all("caption")) == len(page.all("table"))
        framed = [attributes for attributes in page.all("div") if "scroll" in (attributes.get("class") or "").split()]
        assert framed
        assert all(attributes.get("tabindex") == "0" and attributes.get("aria-label") for attributes in framed)

    @pytest.mark.parametrize("complete", [report(scaling_results()), memory_report()])
    def test_no_heading_level_is_skipped(self, complete: Report) -> None:
        levels = [int(tag[1]) for tag, _ in page_of(complete).tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_anchors_are_unique_and_exist(self) -> None:
        page = page_of(report(scaling_results()), report(scaling_results(), host="b"), memory_report())
        anchors = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(anchors) == len(set(anchors))
        assert {(a["href"] or "").lstrip("#") for a in page.all("a")} <= set(anchors)


class TestTablesOfProbes:
    TABLE = Table(
        "cpu_flops", "Rates by size", ["size", "rate", "share"],
        [["4KiB", Quantity(5e9, "FLOP/s", (4.9e9, 5.2e9)), "12"], ["8KiB", None, None]], ["a note on <it>"],
    )  # fmt: skip

    @pytest.fixture
    def page(self) -> Page:
        return page_of(msgspec.structs.replace(report(scaling_results()), tables=[self.TABLE]))

    def test_are_in_the_card_as_in_the_terminal(self, page: Page) -> None:
        assert "Rates by size size rate share 4KiB 5.000 GFLOP/s" in page.text
        assert "8KiB – – a note on <it>" in page.text
        assert page.text.index("Rates by size") < page.text.index("Floating-point rate: results")

    def test_intervals_are_accessible_by_pointer_and_screen_reader(self, page: Page) -> None:
        assert [cell["title"] for cell in page.all("td") if "title" in cell] == [
            "95 % interval: 4.900 to 5.200 GFLOP/s"
        ]
        assert "5.000 GFLOP/s , 95 % interval: 4.900 to 5.200 GFLOP/s" in page.text

    def test_are_only_in_the_card_of_their_probe(self) -> None:
        other = msgspec.structs.replace(self.TABLE, probe="cpu_intops")
        assert "Rates by size" not in page_of(msgspec.structs.replace(report(scaling_results()), tables=[other])).text

    def test_are_collapsed_below_the_heat_map_that_shows_them(self) -> None:
        complete = memory_report()
        (block,) = [card for card in cards_of(complete) if card.probe == "memory_block"]
        assert len(block.heat_maps) == 4
        assert len(block.tables_of_maps) == 4
        assert block.tables == []
        assert "The same values as tables" in page_of(complete).text

    def test_names_in_notes_are_hidden(self) -> None:
        noted = msgspec.structs.replace(self.TABLE, notes=[f"measured on {HOST}"])
        (hidden,) = without_names([msgspec.structs.replace(report([]), tables=[noted])])
        assert hidden.tables[0].notes == ["measured on machine 1"]


SWEEP = [latency_at(size) for size in sizes(MAX_EXPERIMENTS + 1)]


class TestLargeSweeps:
    def test_collapse_their_experiments_and_leave_out_their_samples(self) -> None:
        (card,) = cards_of(report(SWEEP))
        assert (len(card.curves), len(card.rows), len(card.folded), len(card.over_time)) == (1, 0, len(SWEEP), 0)
        text = page_of(report(SWEEP)).text
        assert "All values of 25 experiments" in text
        assert "Samples over time are not drawn for 25 experiments" in text

    def test_show_what_could_not_be_measured(self) -> None:
        bad = with_summary(SWEEP[3], value=None, outcome="failed", reason="no memory")
        (card,) = cards_of(report([*SWEEP[:3], bad, *SWEEP[4:]]))
        assert [row.missing for row in card.rows] == ["failed: no memory"]

    def test_few_sizes_are_all_shown(self) -> None:
        (card,) = cards_of(report(SWEEP[:-1]))
        assert (len(card.rows), len(card.folded), len(card.over_time)) == (MAX_EXPERIMENTS, 0, MAX_EXPERIMENTS)

    def test_many_experiments_without_a_chart_stay_open(self) -> None:
        (card,) = cards_of(report([result({"mix": f"m{n}"}) for n in range(MAX_EXPERIMENTS + 1)]))
        assert (len(card.rows), len(card.folded), len(card.over_time)) == (MAX_EXPERIMENTS + 1, 0, MAX_EXPERIMENTS + 1)

    def test_a_grid_is_not_drawn_against_threads_as_well(self) -> None:
        (card,) = cards_of(report(block_results()))
        assert (len(card.heat_maps), len(card.scaling)) == (4, 0)

    def test_curves_per_number_of_threads_are_not_drawn_against_threads(self) -> None:
        (card,) = cards_of(report([read_at(size, threads=n) for size in sizes(12) for n in (1, 2)]))
        assert (len(card.curves), len(card.scaling)) == (1, 0)

    def test_a_line_over_threads_includes_the_point_of_a_curve(self) -> None:
        curve = [read_at(size) for size in sizes(12)]
        (card,) = cards_of(report([*curve, read_at(sizes(12)[-1], threads=2)]))
        (scaling,) = card.scaling
        (points,) = scaling.chart.spec["datasets"].values()
        assert [point["threads"] for point in points] == [1, 2]

    def test_only_the_bar_of_the_judged_experiment_is_shown(self) -> None:
        rated = [rated_at(item, 90e-9) for item in SWEEP]
        (group,) = efficiencies(report(rated)).groups
        assert (len(group.bars), group.left_out) == (1, MAX_EXPERIMENTS)
        assert "24 more in the curves and tables below" in page_of(report(rated)).text

    def test_they_are_collapsed_in_a_comparison(self) -> None:
        lines = side_by_side([report(SWEEP), report(SWEEP)])
        assert len(lines) == len(SWEEP)
        assert all(line.is_folded for line in lines)
        assert "25 experiments of large sweeps" in page_of(report(SWEEP), report(SWEEP, host="b")).text

    def test_many_notes_are_collapsed(self) -> None:
        text = page_of(report([], notes=[f"note {n}" for n in range(MAX_WARNINGS + 3)])).text
        assert f"note {MAX_WARNINGS - 1} 3 more note {MAX_WARNINGS}" in text

    def test_points_of_curves_that_were_not_needed_are_not_reported_as_missing(self) -> None:
        sparse = report(SWEEP)
        dense = [Experiment(f"memory_latency size={n}", "memory_latency", {"size": n}, dense=True) for n in range(9)]
        plan = msgspec.structs.replace(sparse.run.plan, experiments=[*sparse.run.plan.experiments, *dense])
        sparse = msgspec.structs.replace(sparse, run=msgspec.structs.replace(sparse.run, plan=plan))
        (hidden,) = without_names([sparse])
        assert not any("not measured" in remark for remark in remarks(hidden))
        assert "by hand, 25 experiments, and 0 of 9 more where a curve bends" in page_of(sparse).text


class TestDerived:
    """Derived results have no parameters and no samples; some have a size that the system lists."""

    @staticmethod
    def smaller_cache(listed: float = 32768.0) -> Result:
        size = with_summary(result({}, 8192.0, probe="memory_latency", rated=listed), metric="l1d_size", unit="B",
                            stop="derived", disturbed=0.0, samples=0)  # fmt: skip
        rated = Rated(listed, "listed by the system", is_ceiling=False, can_be_given=False)
        named = msgspec.structs.replace(size, id="memory_latency l1d_size", rated=rated)
        return msgspec.structs.replace(named, series=Series([], [], [], []), round_values=[], utilisation=0.0)

    def test_have_no_verdict_and_no_bar(self) -> None:
        run = report([*scaling_results(), latency_at(4096), self.smaller_cache()])
        assert [judged.summary.probe for judged in judged_by(run)] == ["cpu_flops"]
        assert [group.title for group in efficiencies(run).groups] == ["Floating-point rate"]
        assert "Memory latency: no reference value (nobody knows)." in remarks(run)

    def test_a_size_above_the_listed_one_is_not_above_a_ceiling(self) -> None:
        run = report([latency_at(4096), self.smaller_cache(listed=1000.0)])
        assert not any("exceeded the ceiling" in remark for remark in remarks(run))
        (hidden,) = without_names([run])
        assert not hidden.results[1].rated.is_ceiling

    def test_a_value_above_an_expected_value_is_not_above_a_ceiling(self) -> None:
        base = Rated(2e9, "base clock", is_ceiling=False)
        clock = msgspec.structs.replace(result({}, 3e9, probe="cpu_clock", rated=2e9), rated=base)
        assert not any("exceeded the ceiling" in remark for remark in remarks(report([clock])))

    def test_have_a_table_of_their_own(self) -> None:
        page = page_of(report([latency_at(4096), self.smaller_cache()]))
        assert "Derived from several experiments metric value reference share l1d_size 8.000 KiB" in page.text
        assert "All experiments: size=4KiB stride=64B" in page.text

    def test_are_distinguishable_in_a_comparison(self) -> None:
        other = msgspec.structs.replace(
            with_summary(self.smaller_cache(), metric="l2_size", value=65536.0), id="memory_latency l2_size"
        )
        run = report([self.smaller_cache(), other])
        assert [(line.label, line.values) for line in side_by_side([run, run])] == [
            ("memory_latency l1d_size", ["8.000 KiB"] * 2),
            ("memory_latency l2_size", ["64.00 KiB"] * 2),
        ]


class TestJudging:
    def test_the_highest_share_wins_among_equal_reference_values(self) -> None:
        poor, good = (rated_at(read_at(2**26, threads=n), 40e9) for n in (1, 2))
        assert judged_by(report([poor, good])) == [good]

    def test_a_latency_is_judged_by_its_largest_region(self) -> None:
        small, large = (rated_at(latency_at(size), 90e-9) for size in (4096, 2**26))
        assert judged_by(report([small, large])) == [large]

    def test_a_reason_that_can_be_fixed_is_preferred(self) -> None:
        cached, beyond = read_at(4096), read_at(2**26)
        cached = msgspec.structs.replace(cached, rated=Rated(None, "it may fit the caches", can_be_given=False))
        assert remarks(report([cached, beyond])) == ["Memory bandwidth: no reference value (nobody knows)."]


def test_remarks_are_shown_next_to_the_experiment() -> None:
    page = page_of(report([read_at(4096)]))
    assert [badge["class"] for badge in page.all("span") if badge.get("class") == "badge"] == [
        "badge"
    ] * 2  # tile, table
    assert "as above may fit the caches bandwidth" in page.text


class TestRooflineInThePage:
    def test_precedes_the_cards(self) -> None:
        page = page_of(memory_report())
        assert page.text.index("Roofline: Attainable rate") < page.text.index("Latency against size")
        assert page.text.index("What this means:") < page.text.index("This probe measures the peak floating-point rate")

    def test_needs_a_peak_and_a_bandwidth(self) -> None:
        assert "Roofline" not in page_of(report(scaling_results())).text


def measured_points(chart: Chart) -> list[dict[str, Any]]:
    """Return the points that a thread scaling chart draws from measured values, without its ideal line."""
    return [point for points in chart.spec["datasets"].values() for point in points if "value" in point]


class TestCharts:
    def test_thinning_keeps_the_outline(self) -> None:
        values = [1.0] * 10_000
        values[1234], values[7777] = 9.0, -9.0
        printed = thin(series(values), 200)
        assert len(printed) <= 200
        assert {1234, 7777} <= set(printed)
        assert printed == sorted(printed)

    def test_a_short_series_is_drawn_whole(self) -> None:
        assert thin(series([1.0, 2.0, 3.0]), 3) == [0, 1, 2]
        assert thin(Series([], [], [], []), 3) == []

    @pytest.mark.parametrize(("better", "slow"), [("higher", 24e9), ("lower", 100e9)])
    def test_a_slow_sample_is_not_called_undisturbed(self, better: str, slow: float) -> None:
        samples = series([48e9] * 8 + [slow, slow, 47e9], [9])
        made = msgspec.structs.replace(result({"threads": 1}, samples=samples), better=better)
        assert sample_states(made)[7:] == ["undisturbed", "unexplained", "disturbed", "undisturbed"]
        assert "11 samples, 1 disturbed, 1 slow for a cause that was not recorded." in over_time(made, 100).caption

    def test_thinning_is_stated(self) -> None:
        chart = over_time(result({"threads": 1}, samples=series([1e9, 2e9] * 50, [1])), 10)
        assert "100 samples, 1 disturbed. 10 of them are drawn" in chart.caption
        assert len(chart.spec["data"]["values"]) == 10

    def test_one_number_of_threads_has_no_scaling_chart(self) -> None:
        assert thread_scaling([result({"threads": 2, "mix": m}) for m in ("fma", "mul")], 2) == []

    def test_ideal_scaling_ends_at_the_cores(self) -> None:
        (chart,) = thread_scaling(scaling_results()[:3], 2)
        layer = chart.spec["layer"][0]
        ideal = chart.spec["datasets"][layer["data"]["name"]]
        assert [(point["threads"], point["ideal"]) for point in ideal] == [(1, 48.0), (2, 96.0), (4, 96.0)]

    def test_memory_has_no_ideal_scaling(self) -> None:
        (bandwidth,) = thread_scaling([read_at(2**26, threads=n) for n in (1, 2)], 2)
        (working_set,) = thread_scaling([result({"size": 4096, "threads": n}) for n in (1, 2)], 2)
        (disk,) = thread_scaling([with_summary(result({"threads": n}), unit="B/s") for n in (1, 2)], 2)
        for chart in (bandwidth, working_set, disk):
            assert "ideal" not in chart.caption
            assert "'ideal'" not in str(chart.spec)

    def test_there_are_no_hollow_points_without_oversubscription(self) -> None:
        (chart,) = thread_scaling([read_at(2**26, threads=n) for n in (1, 2)], 2)
        assert len(chart.spec["layer"]) == 3

    def test_many_lines_take_several_charts(self) -> None:
        many = [result({"threads": n, "size": size}) for size in range(LINES_IN_A_CHART + 1) for n in (1, 2)]
        assert [chart.title for chart in thread_scaling(many, 2)] == [
            "Thread scaling (1 of 2)",
            "Thread scaling (2 of 2)",
        ]

    def test_a_series_is_not_connected_to_the_slices(self) -> None:
        long = msgspec.structs.replace(result({"threads": 4}), is_series=True)
        (chart,) = thread_scaling([*(result({"threads": n}) for n in (1, 2, 4)), long], 4)
        assert [(point["line"], point["threads"]) for point in measured_points(chart)] == [
            ("measured", threads) for threads in (1, 2, 4)
        ]

    def test_each_of_several_series_is_a_line(self) -> None:
        slices = [result({"threads": n}) for n in (1, 2, 4)]
        (chart,) = thread_scaling([*slices, *(msgspec.structs.replace(r, is_series=True) for r in slices)], 4)
        assert [(point["line"], point["threads"]) for point in measured_points(chart)] == [
            (line, threads) for line in ("measured", "series") for threads in (1, 2, 4)
        ]

    def test_missing_values_are_not_drawn(self) -> None:
        (chart,) = thread_scaling([*scaling_results()[:3], failed({"threads": 8, "mix": "fma"}, "failed", "no")], 2)
        assert "8" not in re.findall(r"'threads': (\d+)", str(chart.spec))


@pytest.mark.parametrize(
    ("message", "hidden"),
    [
        ("card 52:54:00:12:34:56 is gone", "card (address) is gone"),
        ("52-54-00-12-34-56", "(address)"),
        ("disk 0f8fad5b-d9cb-469f-a165-70867728950e", "disk (identifier)"),
        ("no room in /home/jane/data: 5 MB", "no room in ~/data: 5 MB"),
        ("/root", "~"),
        ("/root/x and /Users/jane", "~/x and ~"),
        ("/srv/home/x, a/root, 12:34:56 and 1-2-3-4-5-6 stay", "/srv/home/x, a/root, 12:34:56 and 1-2-3-4-5-6 stay"),
    ],
)
def test_no_identifier_is_in_a_report(message: str, hidden: str) -> None:
    (printed,) = without_names([report([result({"file": message, "threads": 1})], notes=[message])])
    assert printed.notes == [hidden]
    assert printed.results[0].summary.params["file"] == hidden
