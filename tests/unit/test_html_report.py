"""What stands in an HTML report, and what must not."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from nameplate.errors import FileError
from nameplate.model import Report, Series
from nameplate.report.aliases import without_names
from nameplate.report.cards import repeat_command
from nameplate.report.cells import headlines
from nameplate.report.charts import LINES_IN_A_CHART, over_time, thin, thread_scaling
from nameplate.report.embed import read_embedded
from nameplate.report.html import DETAILS, SIZE_LIMIT, write_html
from nameplate.report.page import render
from nameplate.report.verdict import remarks, verdict
from nameplate.store import RunFile
from nameplate.summarise import summarise
from report_samples import HOST, failed, report, result, scaling_results, series, with_summary
from run_samples import header, plan, run

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>{{ 7*7 }}"


class Page(HTMLParser):
    """The tags of a page with their attributes, and its visible text without scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page_of(*reports: Report) -> Page:
    return Page(render(without_names(reports), DETAILS[0]))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    write_html([report(scaling_results(), notes=[f"seen on {HOST}"])], path)
    return path


class TestFile:
    def test_is_small_and_alone(self, written: Path) -> None:
        assert written.stat().st_size <= SIZE_LIMIT
        assert [path.name for path in written.parent.iterdir()] == ["report.html"]

    def test_replaces_an_older_one(self, written: Path) -> None:
        write_html([report([result({"threads": 1})])], written)
        assert len(read_embedded(written)[0].results) == 1

    def test_a_missing_directory_is_a_file_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="cannot write"):
            write_html([report([])], tmp_path / "nowhere" / "report.html")

    def test_a_directory_is_a_file_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="not a regular file"):
            write_html([report([])], tmp_path)

    def test_a_very_long_run_still_fits(self, tmp_path: Path) -> None:
        long = [result({"threads": 1, "n": n}, samples=series([5e10 * (1 + 1 / (i + n)) for i in range(1, 3001)]))
                for n in range(1, 41)]  # fmt: skip
        path = tmp_path / "long.html"
        write_html([report(long)], path)
        assert path.stat().st_size <= SIZE_LIMIT
        assert "without their single samples" in path.read_text(encoding="utf-8")
        assert [r.summary for r in read_embedded(path)[0].results] == [r.summary for r in long]


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


class TestEmbeddedData:
    def test_reads_back_what_was_written(self, tmp_path: Path) -> None:
        reports = [report(scaling_results()), report([result({"threads": 1, "mix": "ä<&"})], host="other")]
        write_html(reports, tmp_path / "r.html")
        assert read_embedded(tmp_path / "r.html") == without_names(reports)

    def test_only_the_name_differs(self, written: Path) -> None:
        (read,) = read_embedded(written)
        assert read.results == scaling_results()
        assert read.machine["hostname"] == "machine 1"

    @pytest.mark.parametrize("text", ["", "<html></html>"])
    def test_another_file_is_a_file_error(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "other.html").write_text(text, encoding="utf-8")
        with pytest.raises(FileError, match="no data of a nameplate report"):
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
    def test_the_host_is_nowhere(self, written: Path) -> None:
        assert HOST not in written.read_text(encoding="utf-8")
        assert HOST not in msgspec.json.encode(read_embedded(written)).decode()

    def test_also_not_in_reasons_sources_and_notes(self) -> None:
        broken = failed({"threads": 1}, "failed", f"cannot reach {HOST}:5201")
        (hidden,) = without_names([report([broken], notes=[f"{HOST} was busy"])])
        assert hidden.results[0].summary.reason == "cannot reach machine 1:5201"
        assert hidden.notes == ["machine 1 was busy"]

    def test_a_part_of_a_word_is_no_name(self) -> None:
        (hidden,) = without_names([report([], notes=["vmx and a-vm.org"], host="vm")])
        assert hidden.notes == ["vmx and a-vm.org"]

    def test_runs_of_one_machine_share_an_alias(self) -> None:
        hidden = without_names([report([]), report([], host="b"), report([])])
        assert [r.machine["hostname"] for r in hidden] == ["machine 1", "machine 2", "machine 1"]

    def test_the_path_of_a_cut_off_run_is_left_out(self) -> None:
        cut_off = RunFile("/home/alice/run.jsonl", run(plan("a")), [header()], [], None, 3, 0)
        text = render(without_names([summarise(cut_off)]), DETAILS[0])
        assert "The run was cut off before its end" in text
        assert "alice" not in text


class TestEscaping:
    @pytest.fixture
    def page(self) -> Page:
        hostile = result({"file": HOSTILE, "threads": 1}, probe="cpu_flops")
        unknown = result({"threads": 1}, probe=HOSTILE)
        broken = failed({"file": HOSTILE}, "failed", HOSTILE)
        return page_of(report([hostile, unknown, broken], notes=[HOSTILE], host=HOSTILE))

    def test_makes_no_tags(self, page: Page) -> None:
        assert len(page.all("script")) == 4
        assert not page.all("img")
        assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)

    def test_is_shown_as_it_is(self, page: Page) -> None:
        assert "{{ 7*7 }}" in page.text

    def test_commands_are_quoted_for_the_shell(self) -> None:
        assert (
            repeat_command("disk_block", {"file": "a b; rm -rf ~"}) == "nameplate run disk_block 'file=a b; rm -rf ~'"
        )
        assert repeat_command("null", {"duration": 1e-5}) == "nameplate run null duration=0.00001"


class TestVerdict:
    def test_takes_the_cell_that_promises_most_without_oversubscription(self) -> None:
        (hidden,) = without_names([report(scaling_results())])
        assert (
            verdict(hidden)
            == "Machine 1 delivers 96.0 % (95 % interval: 94.1 to 97.9 %) of its rated floating-point rate."
        )

    def test_of_nothing_rated(self) -> None:
        (hidden,) = without_names([report([result({"threads": 1}, rated=None)])])
        assert "not known" in verdict(hidden)
        assert remarks(hidden) == ["Floating-point rate: measured, but without a rated value: nobody knows."]

    @pytest.mark.parametrize(
        ("outcome", "words"),
        [("failed", "could not be measured"), ("invalid", "a wrong result"), ("skipped", "skipped")],
    )
    def test_says_what_is_missing(self, outcome: str, words: str) -> None:
        bad = with_summary(failed({"threads": 1}, "failed", "a reason"), outcome=outcome)
        (hidden,) = without_names([report([bad])])
        assert any(words in remark and "1 cell" in remark for remark in remarks(hidden))

    def test_says_that_the_machine_was_not_quiet(self) -> None:
        noisy = with_summary(result({"threads": 1}), disturbed=0.4)
        assert any("not quiet" in remark for remark in remarks(report([noisy])))

    def test_says_that_a_ceiling_was_passed(self) -> None:
        assert any("over the ceiling" in remark for remark in remarks(report([result({"threads": 1}, 120e9)])))


class TestContent:
    def test_a_cut_off_run(self) -> None:
        assert "The run was cut off before its end" in page_of(report(scaling_results(), truncated=True)).text

    def test_an_empty_cut_off_run_without_a_machine(self) -> None:
        empty = msgspec.structs.replace(report([], truncated=True), machine={}, clock=None)
        assert "not recorded" in page_of(empty).text

    @pytest.mark.parametrize("outcome", ["failed", "invalid", "skipped"])
    def test_no_number_without_a_measurement(self, outcome: str) -> None:
        bad = with_summary(failed({"threads": 1}, "failed", "for a reason"), outcome=outcome)
        page = page_of(report([bad]))
        assert f"{outcome}: for a reason" in page.text
        assert "FLOP/s" not in page.text
        assert "delivers 0" not in page.text

    def test_every_cell_can_be_repeated(self) -> None:
        text = page_of(report(scaling_results())).text
        for one in headlines(scaling_results()):
            assert f"nameplate run {one.id}" in text

    def test_what_is_needed_to_run_it_again(self) -> None:
        text = page_of(report(scaling_results())).text
        for word in ("4711", "2026-01-02T03:04:05+00:00", "by hand", "tsc", "oversubscribed", "1.5 CPUs", "kvm guest"):
            assert word in text

    def test_runs_side_by_side(self) -> None:
        assert "Runs side by side" in page_of(report(scaling_results()), report(scaling_results(), host="b")).text
        assert "Runs side by side" not in page_of(report(scaling_results())).text

    def test_is_accessible(self) -> None:
        page = page_of(report(scaling_results()))
        assert page.all("html")[0]["lang"] == "en"
        assert page.all("a")[0]["href"] == "#content"
        assert all("scope" in attributes for attributes in page.all("th"))
        assert len(page.all("caption")) == len(page.all("table"))
        framed = [attributes for attributes in page.all("div") if attributes.get("class") == "scroll"]
        assert framed
        assert all(attributes.get("tabindex") == "0" and attributes.get("aria-label") for attributes in framed)

    def test_headings_skip_no_level(self) -> None:
        levels = [int(tag[1]) for tag, _ in page_of(report(scaling_results())).tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_anchors_are_unique_and_there(self) -> None:
        page = page_of(report(scaling_results()), report(scaling_results(), host="b"))
        anchors = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(anchors) == len(set(anchors))
        assert {(a["href"] or "").lstrip("#") for a in page.all("a")} <= set(anchors)


class TestCharts:
    def test_thinning_keeps_the_outline(self) -> None:
        values = [1.0] * 10_000
        values[1234], values[7777] = 9.0, -9.0
        shown = thin(series(values), 200)
        assert len(shown) <= 200
        assert {1234, 7777} <= set(shown)
        assert shown == sorted(shown)

    def test_a_short_series_is_drawn_whole(self) -> None:
        assert thin(series([1.0, 2.0, 3.0]), 3) == [0, 1, 2]
        assert thin(Series([], [], []), 3) == []

    def test_thinning_is_stated(self) -> None:
        chart = over_time(result({"threads": 1}, samples=series([1e9, 2e9] * 50, [1])), 10)
        assert "100 samples, 1 disturbed. 10 of them are drawn" in chart.caption
        assert len(chart.spec["data"]["values"]) == 10

    def test_nothing_scales_with_one_number_of_threads(self) -> None:
        assert thread_scaling([result({"threads": 2, "mix": m}) for m in ("fma", "mul")], 2) == []

    def test_ideal_scaling_ends_at_the_cores(self) -> None:
        (chart,) = thread_scaling(scaling_results()[:3], 2)
        layer = chart.spec["layer"][0]
        ideal = chart.spec["datasets"][layer["data"]["name"]]
        assert [(point["threads"], point["ideal"]) for point in ideal] == [(1, 48.0), (2, 96.0), (4, 96.0)]

    def test_many_lines_take_several_charts(self) -> None:
        many = [result({"threads": n, "size": size}) for size in range(LINES_IN_A_CHART + 1) for n in (1, 2)]
        assert [chart.title for chart in thread_scaling(many, 2)] == [
            "Thread scaling (1 of 2)",
            "Thread scaling (2 of 2)",
        ]

    def test_what_could_not_be_measured_is_not_drawn(self) -> None:
        (chart,) = thread_scaling([*scaling_results()[:3], failed({"threads": 8, "mix": "fma"}, "failed", "no")], 2)
        assert "8" not in re.findall(r"'threads': (\d+)", str(chart.spec))
