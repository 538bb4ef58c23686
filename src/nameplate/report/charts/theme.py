"""How charts look, on the page and as pictures. Colours are named here and given their values by the page's style."""

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
    """Their values in light surroundings, by name: a picture has no theme."""
    first = re.search(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(re.findall(r"(--[\w-]+): (#\w+);", first[1] if first else ""))


def coloured(definition: str) -> str:
    """A definition as text, with these values in place of the names."""
    return re.sub(r"var\((--[\w-]+)\)", lambda match: day_colours()[match[1]], definition)
