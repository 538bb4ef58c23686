"""In a real browser, the HTML report draws its charts, reports no error and fetches nothing."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from chromium import CHROMIUM, Browser
from machines import machine_with
from nameplate.commands._reading import read_report
from nameplate.report.html.document import write_html
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.studies import with_study
from recorded_runs import recorded_file
from report_samples import failed, memory_report, report, result, scaling_results, series, with_summary
from simulated_cluster import write_stream_run

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "a report.html"
    over_time = result({"threads": 1, "mix": "div"}, samples=series([5e10 + i for i in range(40)], [3, 4]))
    hostile = result({"threads": 1, "mix": "<img src=//example.invalid/x onerror=alert(1)>"})
    write_html([report([*scaling_results(), over_time, hostile, failed({"threads": 3}, "failed", "a reason")])], path)
    return path


@pytest.fixture(scope="module", params=["quick", "full", "t2micro-posix"])
def recorded_page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    report = with_study(read_report(recorded_file(f"{request.param}.jsonl", folder)))
    write_html([report], folder / f"{request.param}.html")
    return folder / f"{request.param}.html"


@pytest.fixture(scope="module")
def memory_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "memory.html"
    write_html([memory_report()], path)
    return path


@pytest.fixture
def memory_seen(browser: Browser, memory_page: Path) -> Browser:
    browser.open(memory_page)
    browser.unfold()
    return browser


@pytest.fixture
def seen(browser: Browser, page: Path) -> Browser:
    browser.open(page)
    browser.unfold()
    return browser


def count(browser: Browser, selector: str) -> int:
    number: int = browser.value(f"document.querySelectorAll({json.dumps(selector)}).length")
    return number


def test_every_chart_is_drawn(seen: Browser) -> None:
    assert count(seen, "[data-chart]") == 9
    assert count(seen, "[data-chart] svg.marks") == 9
    assert count(seen, "#no-charts[hidden]") == 1


def test_charts_have_marks(seen: Browser) -> None:
    assert count(seen, '[aria-roledescription="point"]') >= 40
    assert count(seen, 'svg.marks path[fill="var(--series-2)"]') >= 2
    box = "document.querySelector('svg.marks .mark-line path').getBBox().width"
    assert seen.value(box) > 200


def test_colours_follow_the_theme(seen: Browser) -> None:
    def colour(scheme: str) -> object:
        seen.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        return seen.value("getComputedStyle(document.querySelector('svg.marks .role-axis-label text')).fill")

    assert (colour("light"), colour("dark")) == ("rgb(87, 96, 106)", "rgb(154, 165, 177)")
    seen.call("Emulation.setEmulatedMedia", features=[])


def test_nothing_fails(seen: Browser) -> None:
    assert seen.complaints() == []


def test_nothing_is_fetched(seen: Browser, page: Path) -> None:
    assert [url for url in seen.requests() if not url.startswith(("blob:", "data:"))] == [page.as_uri()]


def test_a_request_would_be_detected(browser: Browser, tmp_path: Path) -> None:
    fetching = tmp_path / "fetching.html"
    fetching.write_text('<html data-charts="none"><img src="http://example.invalid/x.png">', encoding="utf-8")
    browser.open(fetching)
    browser.value("new Promise(done => setTimeout(done, 200))")
    assert "http://example.invalid/x.png" in browser.requests()


def test_the_content_security_policy_blocks_an_injected_request(seen: Browser) -> None:
    seen.value("document.body.append(Object.assign(new Image(), {src: 'http://example.invalid/x.png'}))")
    seen.value("new Promise(done => setTimeout(done, 200))")
    assert any("Content Security Policy" in str(event) for event in seen.complaints())


def test_open_tables_have_the_data_of_their_charts(seen: Browser) -> None:
    seen.value("document.querySelectorAll('details.points').forEach(details => { details.open = true; })")
    seen.value("new Promise(done => setTimeout(done, 200))")
    assert count(seen, "details.points table") == 9
    assert count(seen, "details.points th[scope=col]") == 6 + 8 * 3
    rows = seen.value("[...document.querySelectorAll('details.points tbody tr')].map(row => row.innerText)")
    assert "mix=fma\t1\t48\t47.04\t48.96\tone CPU per thread" in rows
    assert "0.03\t50\tdisturbed" in rows


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("which", ["page", "memory_page"])
def test_the_page_does_not_scroll_sideways(
    browser: Browser, request: pytest.FixtureRequest, which: str, width: int
) -> None:
    browser.open(request.getfixturevalue(which), width)
    browser.value("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    browser.value("new Promise(done => setTimeout(done, 200))")
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_a_recorded_run_is_short_until_it_is_unfolded(browser: Browser, recorded_page: Path) -> None:
    browser.open(recorded_page, 1400)
    assert browser.value("document.documentElement.scrollHeight") <= 6000
    assert 4 <= count(browser, "svg.marks") <= 12
    browser.unfold()
    wider = "[...document.querySelectorAll('.scroll')].filter(frame => frame.scrollWidth > frame.clientWidth + 1)"
    assert browser.value(f"{wider}.map(frame => frame.getAttribute('aria-label'))") == []
    assert count(browser, "article.area table") > 20


@pytest.mark.parametrize("name", ["quick", "full", "soak"])
def test_a_recorded_run_is_printed_on_two_pages(browser: Browser, tmp_path: Path, name: str) -> None:
    write_html([read_report(recorded_file(f"{name}.jsonl", tmp_path))], tmp_path / "run.html")
    browser.open(tmp_path / "run.html", 1400)
    printed = b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2


def texts(browser: Browser, selector: str) -> list[str]:
    actual: list[str] = browser.value(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")
    return actual


class TestMemory:
    """Memory results: curves, heat maps and the roofline."""

    def test_all_are_drawn_without_errors(self, memory_seen: Browser) -> None:
        assert count(memory_seen, ".roofline svg.marks") == 2
        assert count(memory_seen, ".curve svg.marks") == 2
        assert count(memory_seen, ".map svg.marks") == 4
        assert memory_seen.complaints() == []

    def test_a_curve_marks_the_levels(self, memory_seen: Browser) -> None:
        assert memory_seen.value("document.querySelector('.curve .mark-line path').getBBox().width") > 450
        assert texts(memory_seen, ".curve .mark-text.role-mark text") == ["L1d", "L2"] * 2
        assert count(memory_seen, ".curve .mark-rect.role-mark path") == 4
        assert "64KiB" in texts(memory_seen, ".curve .role-axis-label text")

    def test_a_heat_map_shows_its_values(self, memory_seen: Browser) -> None:
        assert count(memory_seen, ".map .mark-text.role-mark text") == 4 * 16
        assert {"300.0 MB/s", "17.00 GB/s", "9.412 ms"} <= set(texts(memory_seen, ".map .mark-text.role-mark text"))
        cells = "[...document.querySelectorAll('.map .mark-rect.role-mark path')]"
        shades = memory_seen.value(f"{cells}.map(cell => Number(cell.getAttribute('opacity')))")
        assert {0.05, 0.5} <= {round(shade, 2) for shade in shades}

    def test_values_fit_their_cells(self, memory_seen: Browser) -> None:
        widths = "[...document.querySelectorAll('.map .mark-text.role-mark text')].map(e => e.getBBox().width)"
        assert max(memory_seen.value(widths)) <= 68

    def test_the_roofline_has_its_roofs_slopes_and_ridges(self, memory_seen: Browser) -> None:
        assert count(memory_seen, ".roofline .mark-line path") == 6
        assert texts(memory_seen, ".roofline .mark-text.role-mark text").count("memory: 20.00 GB/s") == 1
        boxes = (
            "[...document.querySelectorAll('.roofline .mark-text.role-mark text')].map(e => e.getBoundingClientRect())"
        )
        apart = "(a, b) => a.right < b.left || b.right < a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2"
        assert memory_seen.value(f"{boxes}.every((a, i, all) => all.every((b, j) => i == j || ({apart})(a, b)))")
        assert {"1/16", "16"} <= set(texts(memory_seen, ".roofline .role-axis-label text"))

    def test_tables_have_the_data_of_their_charts(self, memory_seen: Browser) -> None:
        memory_seen.value("document.querySelectorAll('details.points').forEach(details => { details.open = true; })")
        memory_seen.value("new Promise(done => setTimeout(done, 200))")
        rows = memory_seen.value("[...document.querySelectorAll('details.points tbody tr')].map(row => row.innerText)")
        assert "4KiB\t1\t0.98\t1.02" in rows
        assert "8B\t1\t300.0 MB/s\t294.0 to 306.0 MB/s\tone CPU per thread" in rows
        assert memory_seen.complaints() == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_slow_node_is_a_dark_row_and_column_of_a_matrix(browser: Browser, tmp_path: Path, width: int) -> None:
    nodes, slow = 12, 7
    made = with_summary(result({"between": "nodes", "size": 8}, 1e-5, probe="mpi_pairs"), metric="latency", unit="s")
    times = [4e-5 if slow in pair else 1e-5 for pair in combinations(range(nodes), 2)]
    named = report([msgspec.structs.replace(made, pairs=times)])
    job = {"nodes": [f"n{i}" for i in range(nodes)], "ranks": nodes, "library": "MPI"}
    write_html([msgspec.structs.replace(named, machine=machine_with(named.machine, job=job))], tmp_path / "pairs.html")
    browser.open(tmp_path / "pairs.html", width)
    cells = "[...document.querySelectorAll('.map .mark-rect.role-mark path')]"
    shades = browser.value(f"{cells}.map(cell => Number(cell.getAttribute('opacity')))")
    assert sorted({round(shade, 2) for shade in shades}) == [0.05, 0.5]
    assert sum(shade > 0.4 for shade in shades) == 2 * (nodes - 1)
    assert len(shades) == nodes * (nodes - 1)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []


def test_charts_in_a_closed_section_are_drawn_when_it_opens(browser: Browser, tmp_path: Path) -> None:
    write_html([report([result({"threads": 1, "n": n}) for n in range(20)])], tmp_path / "many.html")
    browser.open(tmp_path / "many.html")
    assert count(browser, "svg.marks") == 0
    browser.value("document.querySelectorAll('details.probe, details.series').forEach(each => { each.open = true; })")
    browser.value(
        "new Promise(done => { const look = () => document.querySelectorAll('svg.marks').length == 20 ? done()"
        " : setTimeout(look, 50); look(); })"
    )
    assert count(browser, "svg.marks") == 20


@pytest.mark.parametrize("width", [390, 1280])
def test_the_map_of_nodes_frames_the_slow_one(browser: Browser, tmp_path: Path, width: int) -> None:
    nodes = 230
    write_stream_run(tmp_path / "run.jsonl", nodes, slow={17: 0.2}, rounds=3)
    write_html([summarise(read_run(tmp_path / "run.jsonl"))], tmp_path / "nodes.html")
    browser.open(tmp_path / "nodes.html", width)
    browser.unfold()
    card = "document.getElementById('run-1-nodes').parentElement"
    # Average, minimum and maximum of each of the four operations of STREAM, and its distribution.
    assert browser.value(f"{card}.querySelectorAll('[data-chart] svg.marks').length") == 16
    layers = f"[...{card}.querySelector('svg.marks').querySelectorAll('.mark-rect.role-mark')]"
    rectangles = browser.value(f"{layers}.map(layer => layer.querySelectorAll('path').length)")
    assert sorted(rectangles)[0] == 1
    assert max(rectangles) == nodes
    assert len(rectangles) == 3  # the nodes, the frame of the slow one, and the colour bar
    assert "slow: machine 18 (1 of 230)" in browser.value(f"{card}.textContent")
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []
