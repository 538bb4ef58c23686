"""Style charts on the page and as pictures. Colours are names here; the page's style sheet defines their values."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

STYLE = Path(__file__).parents[1] / "templates" / "report.css"

_FAINT = {"labelColor": "var(--faint)", "titleColor": "var(--faint)"}
THEME: dict[str, Any] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        **_FAINT, "gridColor": "var(--line)", "domainColor": "var(--line)", "tickColor": "var(--line)",
        "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelOverlap": True,
    },
    "legend": {"labelColor": "var(--ink)", "labelFontSize": 12, "symbolSize": 80, "symbolStrokeWidth": 2},
    "rule": {"color": "var(--faint)"},
    "range": {"category": [f"var(--series-{number})" for number in range(1, 9)]},
}  # fmt: skip


@cache
def day_colours() -> dict[str, str]:
    """Return the values of the light theme's colours by name: a picture cannot follow the reader's theme."""
    first = re.search(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(re.findall(r"(--[\w-]+): (#\w+);", first[1] if first else ""))


def coloured(definition: str) -> str:
    """Return a definition as text, with the colour names replaced by their values."""
    return re.sub(r"var\((--[\w-]+)\)", lambda match: day_colours()[match[1]], definition)
