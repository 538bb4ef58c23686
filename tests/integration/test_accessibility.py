"""axe-core finds no violation in the HTML report in a real browser, at two widths and in both colour schemes."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chromium import CHROMIUM, Browser
from nameplate.report.html.document import write_html
from report_kinds import every_kind, judgement_of_every_kind

WIDTHS, SCHEMES = (390, 1280), ("light", "dark")
# axe cannot determine the background of text in a chart; tests/unit/report/test_theme.py checks those colours.
IN_CHARTS = ".chart"
MATCHES = "found => found.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => n.target.join(' '))}))"

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")


def axe() -> str:
    """Return the source of axe-core.

    The package is installed without its dependencies, the browsers, so it is located but not imported.
    """
    spec = importlib.util.find_spec("axe_playwright_python")
    assert spec is not None, "run script/bootstrap test"
    folders = spec.submodule_search_locations
    assert folders
    return (Path(folders[0]) / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "every kind.html"
    write_html(every_kind(), path, judgements=[judgement_of_every_kind(), None, None])
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module", params=WIDTHS)
def seen(browser: Browser, page: Path, request: pytest.FixtureRequest) -> Browser:
    """Open the page with every section open and axe loaded."""
    browser.open(page, request.param)
    browser.unfold()
    # The value of the script is axe itself, which is too large to return.
    browser.value(f"{axe()};null")
    return browser


def violations(browser: Browser, context: object, options: object) -> list[str]:
    """Return each violation with the first places where it was found."""
    actual: list[dict[str, Any]] = browser.value(
        f"axe.run({json.dumps(context)}, {json.dumps(options)}).then({MATCHES})"
    )
    return [f"{item['id']} ({item['help']}): {len(item['nodes'])} times, as in {item['nodes'][:3]}" for item in actual]


def test_no_rule_is_broken(seen: Browser) -> None:
    """Check all rules of axe: WCAG levels A and AA, and best practices."""
    colours_apart = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}
    assert violations(seen, {"include": ["html"]}, colours_apart) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_has_enough_contrast(seen: Browser, scheme: str) -> None:
    # Rows and tables that look like earlier ones are removed to save time.
    alike = "tbody tr:nth-child(n+5), article .points:not(article:first-of-type *) table"
    seen.value(f"document.querySelectorAll({json.dumps(alike)}).forEach(element => element.remove())")
    seen.show(scheme)
    only_colours = {"resultTypes": ["violations"], "runOnly": {"type": "rule", "values": ["color-contrast"]}}
    assert violations(seen, {"include": ["body"], "exclude": [IN_CHARTS]}, only_colours) == []
    seen.show()


def test_violations_would_be_found(seen: Browser) -> None:
    bad = '<p id=bad style="color: #888; background: #777">grey on grey</p><img id=bad2 src="data:,">'
    seen.value(f"document.querySelector('h1').insertAdjacentHTML('afterend', {json.dumps(bad)})")
    actual = violations(seen, {"include": ["#bad", "#bad2"]}, {"resultTypes": ["violations"]})
    seen.value("document.querySelectorAll('#bad, #bad2').forEach(element => element.remove())")
    assert [arguments.split()[0] for arguments in actual] == ["color-contrast", "image-alt"]


class TestKeyboard:
    """Tab reaches every control in the order of the page and shows the focus."""

    def test_every_control_is_reached_and_shows_its_focus(self, browser: Browser, page: Path) -> None:
        browser.open(page)
        expected = browser.value(
            "[...document.querySelectorAll('a[href], button, summary, [tabindex]')]"
            ".filter(e => e.checkVisibility()).map((e, i) => { e.dataset.tab = i; return i; }).length"
        )
        browser.value("document.activeElement.blur()")
        reached = [self.pressed(browser) for _ in range(expected)]
        assert [index for index, _ in reached] == [str(n) for n in range(expected)]
        assert all(outline not in ("none", "") for _, outline in reached)

    def pressed(self, browser: Browser) -> tuple[str, str]:
        """Press Tab; return the element that has the focus and the style of its outline."""
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        position, outline = browser.value(
            "[document.activeElement.dataset.tab ?? '', getComputedStyle(document.activeElement).outlineStyle]"
        )
        return position, outline

    def test_enter_opens_a_section(self, browser: Browser, page: Path) -> None:
        browser.open(page)
        browser.value("document.querySelector('details.points > summary').focus()")
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                         windowsVirtualKeyCode=13)  # fmt: skip
        browser.value("new Promise(done => setTimeout(done, 200))")
        assert browser.value("document.querySelectorAll('details.points table').length") == 1


class TestPaper:
    """A printed page has the facts of the machine, and no chart is wider than the sheet."""

    def test_facts_open_for_printing_and_close_again(self, browser: Browser, page: Path) -> None:
        browser.open(page)
        open_before = browser.value("document.querySelectorAll('details[open]').length")
        on_paper = browser.value("document.querySelectorAll('details.on-paper').length")
        browser.value(
            "addEventListener('beforeprint', () => { window.printed = ['details[open]', 'details[open] .facts']"
            ".map(those => document.querySelectorAll(those).length); })"
        )
        assert browser.call("Page.printToPDF", transferMode="ReturnAsStream", landscape=True)["stream"]
        unfolded, facts = browser.value("window.printed")
        assert on_paper > 3
        assert (unfolded, facts) == (open_before + on_paper, 2 * 3)
        assert browser.value("document.querySelectorAll('details[open]').length") == open_before

    def test_charts_fit_the_sheet(self, browser: Browser, page: Path) -> None:
        browser.open(page)
        browser.show(media="print")
        browser.call("Emulation.setDeviceMetricsOverride", width=1032, height=700, deviceScaleFactor=1, mobile=False)
        too_wide = browser.value(
            "[...document.querySelectorAll('svg.marks')].filter(e => e.checkVisibility() &&"
            " e.getBoundingClientRect().right > innerWidth).length"
        )
        browser.show()
        assert too_wide == 0


def test_the_button_opens_and_draws_everything(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.value("document.getElementById('unfold').click()")
    browser.unfold()
    assert browser.value("document.querySelectorAll('details:not([open])').length") == 0
    assert browser.complaints() == []
