"""Take the pictures of the README: a run in the terminal, and the top of its report.

``python docs/generate/screenshots.py [RUN.jsonl]``; without a run it measures one.
"""

from __future__ import annotations

import base64
import io
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from chromium import Browser  # noqa: E402 (found by the line above)

IMAGES = ROOT / "docs" / "images"
COLUMNS = 80
REPORT_WIDTH, REPORT_SCALE = 1240, 0.75
# The picture of the report ends with the tiles.
LAST_SECTION = ".tiles"
# Each picture is at most so large, or a page with both takes long to load.
MAX_BYTES = 200_000
NAMEPLATE = [sys.executable, "-m", "nameplate"]


def main() -> None:
    """Write both pictures."""
    with TemporaryDirectory() as folder:
        run = Path(sys.argv[1]) if len(sys.argv) > 1 else measured(Path(folder))
        report = Path(folder) / "report.html"
        subprocess.run([*NAMEPLATE, "report", str(run), "-o", str(report)], check=True)
        browser = Browser(Path(folder) / "profile")
        try:
            terminal = Path(folder) / "terminal.html"
            terminal.write_text(f'<body style="margin:0;overflow:hidden;background:#0c0c0c">{as_svg(run)}</body>')
            write("terminal.png", picture_of_terminal(browser, terminal))
            write("report.png", picture_of_report(browser, report))
        finally:
            browser.close()


def measured(folder: Path) -> Path:
    """Measure what the README shows."""
    run = folder / "run.jsonl"
    subprocess.run([*NAMEPLATE, "run", "--quiet", "-o", str(run)], check=True, cwd=folder)
    return run


def as_svg(run: Path) -> str:
    """Return the output of ``nameplate show`` in the colours of a terminal."""
    printed = subprocess.run(
        [*NAMEPLATE, "show", str(run)], check=True, capture_output=True, text=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)},
    ).stdout  # fmt: skip
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(printed.replace(str(run), run.name)))
    return console.export_svg(title="nameplate run", theme=MONOKAI)


def picture_of_terminal(browser: Browser, page: Path) -> bytes:
    """Return a picture of the page's one SVG element."""
    browser.call("Page.navigate", url=page.as_uri())
    browser.value("new Promise(done => setTimeout(done, 300))")
    width, height = browser.value("(b => [b.width, b.height])(document.querySelector('svg').getBoundingClientRect())")
    return picture(browser, width, height, 1)


def picture_of_report(browser: Browser, page: Path) -> bytes:
    """Return a picture of the report from its top to the end of one section."""
    browser.open(page, REPORT_WIDTH)
    height = browser.value(f"document.querySelector('{LAST_SECTION}').getBoundingClientRect().bottom + 12")
    return picture(browser, REPORT_WIDTH, height, REPORT_SCALE)


def picture(browser: Browser, width: float, height: float, scale: float) -> bytes:
    """Return the top left part of the page as PNG."""
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
    taken = browser.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
    return base64.b64decode(taken["data"])


def write(name: str, content: bytes) -> None:
    """Write a picture, or end the program if it is too large."""
    if len(content) > MAX_BYTES:
        raise SystemExit(f"{name} has {len(content):,} bytes, more than {MAX_BYTES:,}: show less")
    (IMAGES / name).write_bytes(content)


if __name__ == "__main__":
    main()
