"""Check that the documentation site builds without a warning, loads nothing external and covers the whole program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import site_reference
from chromium import Browser
from nameplate import errors
from nameplate.command_line import make_app
from nameplate.planning.sweep import ProbeInfo
from nameplate.probes import load_probes
from nameplate.records.result import Summary
from nameplate.report.comparison_exports import comparison_export_names
from nameplate.report.exports import export_names
from nameplate.tools.external import load_importers, load_references

ROOT = Path(__file__).parents[2]
# JavaScript: wait until a function returns a truthy value, and return that value.
UNTIL = (
    "(look => new Promise(done => { const again = () => { const found = look(); found && found.length !== 0"
    " ? done(found) : setTimeout(again, 50); }; again(); }))"
)
MATCHES = ".md-search-result__link"
TYPE = (
    "(field => { field.focus(); field.value = 'WORDS'; field.dispatchEvent(new KeyboardEvent('keyup', "
    "{bubbles: true})); })(document.querySelector('[data-md-component=search-query]'))"
)


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site as script/docs does, including the installation of its requirements."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(root / "mkdocs.yml")]
    return subprocess.run(
        [*command, "--site-dir", str(site)], capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "true"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site") / "docs"
    done = build(ROOT, built)
    assert done.returncode == 0, done.stdout + done.stderr
    return built


def message(page: Path) -> str:
    return re.sub(r"<[^>]+>", " ", page.read_text())


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    loads = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//|<link\b[^>]*\bhref=[\"']?(?:https?:)?//"
    )
    pages = [*site.rglob("*.html")]
    assert len(pages) > len(load_probes())
    assert [page.name for page in pages if loads.search(page.read_text())] == []
    sheets = [*site.rglob("*.css")]
    assert sheets
    assert [sheet.name for sheet in sheets if re.search(r"url\([\"']?(?:https?:)?//|@import", sheet.read_text())] == []


def test_the_search_works_on_a_page_that_is_opened_from_the_disk(site: Path, tmp_path: Path) -> None:
    browser = Browser(tmp_path)
    try:
        browser.call("Page.navigate", url=(site / "index.html").as_uri())
        browser.value(f"{UNTIL}(() => window.IFrameWorker && document.querySelector('#__search'))")
        browser.value("document.querySelector('#__search').click()")
        browser.value(TYPE.replace("WORDS", "KillWait"))
        links = browser.value(
            f"{UNTIL}(() => [...document.querySelectorAll('.md-search-result__link')].map(a => a.href))"
        )
        requests = browser.requests()
    finally:
        browser.close()
    assert any("mpi.html" in link for link in links)
    assert [address for address in requests if not address.startswith(("file:", "data:", "about:", "blob:"))] == []


def test_the_page_of_a_probe_has_its_parameters_and_metrics(site: Path, described: Mapping[str, ProbeInfo]) -> None:
    for name, info in described.items():
        page = message(site / "probes" / f"{name}.html")
        expected = {parameter.name for parameter in info.parameters} | {
            parameter.name for parameter in load_probes()[name].metrics
        }
        expected |= {parameter.name for parameter in (*info.counters, *info.facts)}
        assert {parameter for parameter in expected if f" {parameter} " not in page} == set(), name


def test_every_command_and_option_is_on_the_page_of_commands(site: Path) -> None:
    app = make_app()
    page = message(site / "reference" / "commands.html")
    for name in (name for name in app if not name.startswith("-")):
        assert f"nameplate {name}" in page
        for argument in app[name].assemble_argument_collection(parse_docstring=True).filter_by(show=True):
            assert f" {argument.names[0]} " in page, (name, argument.names)


def test_every_error_class_and_exit_code_is_on_its_page(site: Path) -> None:
    page = message(site / "reference" / "exit-codes.html")
    for kind in (errors.UsageError, errors.CoreHung, errors.InternalError):
        assert re.search(rf"{kind.__name__}\s+{kind.exit_code}\s", page), kind
    assert all(re.search(rf"\s{code}\s", page) for code in (0, 1, 2, 3, 4, 5, 70))


def test_every_format_and_adapter_is_on_the_page_of_formats(site: Path) -> None:
    page = message(site / "reference" / "formats.html")
    names = {
        *export_names(),
        *comparison_export_names(),
        *load_references(),
        *(importer.name for importer in load_importers()),
    }
    assert {name for name in names if f" {name} " not in page} == set()
    assert {name for name in Summary.__struct_fields__ if f" {name} " not in page} == set()


def test_the_page_of_exports_has_every_format() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs" / "exports.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(["table", *export_names()])


def test_every_type_of_record_is_on_the_page_of_records(site: Path) -> None:
    page = (site / "reference" / "records.html").read_text()
    for kind in ("header", "sample", "outcome", "end", "run", "stop", "figures", "reference", "description"):
        assert f'id="{kind}"' in page
    assert (site / "reference" / "record.schema.json").read_text() == site_reference.SCHEMA.read_text()


def test_the_images_of_the_readme_exist_and_are_small() -> None:
    named = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert len(named) == 2
    assert [name for name in named if not 0 < (ROOT / name).stat().st_size < 200_000] == []


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("mkdocs.yml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "schema", tmp_path / "schema")
    (tmp_path / "docs" / "index.md").write_text("# Start\n\n[nowhere](no-such-page.md)\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    assert "no-such-page.md" in done.stdout + done.stderr
