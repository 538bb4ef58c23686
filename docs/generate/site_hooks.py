"""Hooks that MkDocs calls while it builds the site: add the generated pages and fill the navigation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import site_reference as reference
from site_formats import formats_page

PAGES: Mapping[str, Callable[[], str]] = {
    "reference/commands.md": reference.commands_page,
    "reference/exit-codes.md": reference.exit_codes_page,
    "reference/formats.md": formats_page,
    "reference/metrics.md": reference.metrics_page,
    "reference/plans.md": reference.plans_page,
    "reference/probes.md": reference.probes_page,
    "reference/records.md": reference.records_page,
    "reference/record.schema.json": reference.SCHEMA.read_text,
}
# Sections of the navigation that list a folder's pages.
FOLDERS = {"Probes": "probes", "Plans": "plans", "Measurements": "measurements", "Decisions": "decisions"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of each folder where the navigation names the folder."""
    config.nav = _filled(config.nav, Path(config.docs_dir))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, content in PAGES.items():
        files.append(File.generated(config, path, content=content()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Append a probe's generated tables to its page, and point at the site's copy of the schema."""
    path = Path(page.file.src_uri)
    markdown = markdown.replace("](../schema/record.schema.json)", "](reference/record.schema.json)")
    if path.parent == Path("probes"):
        return f"{markdown}\n\n{reference.probe_section(path.stem)}"
    return markdown


def _filled(nav: Any, docs: Path) -> Any:
    if isinstance(nav, list):
        return [_filled(entry, docs) for entry in nav]
    if isinstance(nav, dict):
        return {title: _filled(entry, docs) + _pages(title, docs) if title in FOLDERS else _filled(entry, docs)
                for title, entry in nav.items()}  # fmt: skip
    return nav


def _pages(title: str, docs: Path) -> list[str]:
    # An index page, which explains the folder, comes first.
    names = sorted((docs / FOLDERS[title]).glob("*.md"), key=lambda path: (path.stem != "index", path.name))
    return [path.relative_to(docs).as_posix() for path in names]
