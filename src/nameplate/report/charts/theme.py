"""Define the style of charts, on the page and as pictures.

Colours are names such as ``var(--ink)``, whose values the page's style sheet defines.
"""

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
    """Return the colours of the light theme as hexadecimal values by name: ``{"--ink": "#1b1f24", …}``.

    They are read once from the page's style sheet, for pictures, which cannot follow the reader's theme. All callers
    share the dictionary; do not change it.
    """
    first = re.search(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(re.findall(r"(--[\w-]+): (#\w+);", first[1] if first else ""))


def coloured(definition: str) -> str:
    """Return a Vega-Lite definition in JSON with hexadecimal colours in place of names such as ``var(--ink)``.

    The colours are from the light theme.

    Raises:
        KeyError: the light theme has no colour of this name.
    """
    return re.sub(r"var\((--[\w-]+)\)", lambda match: day_colours()[match[1]], definition)
