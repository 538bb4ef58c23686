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
    """Return the hexadecimal values of the light theme's colours by name: ``{"--ink": "#1b1f24", …}``.

    Pictures use them, because a picture cannot follow the reader's theme. They are read once from the style sheet of
    the page. All callers share the dictionary, so do not change it.
    """
    first = re.search(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(re.findall(r"(--[\w-]+): (#\w+);", first[1] if first else ""))


def coloured(definition: str) -> str:
    """Return a Vega-Lite definition in JSON with each colour name, such as ``var(--ink)``, replaced by its value.

    The values are those of the light theme.

    Raises:
        KeyError: the light theme has no colour of this name.
    """
    return re.sub(r"var\((--[\w-]+)\)", lambda match: day_colours()[match[1]], definition)
