"""The colours of page and charts: text and marks have enough contrast with their background in both colour schemes."""

from __future__ import annotations

import re

import pytest

from nameplate.report.charts.theme import STYLE

# The minimum contrast of WCAG 2 for text, and for graphical objects.
TEXTS, MARKS = 4.5, 3.0


def palettes() -> list[dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", STYLE.read_text(encoding="utf-8"), re.DOTALL)
    return [dict(re.findall(r"--([\w-]+): #(\w{6});", block)) for block in blocks[:2]]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(front: str, back: str, opacity: float) -> str:
    pairs = [(int(front[i : i + 2], 16), int(back[i : i + 2], 16)) for i in (0, 2, 4)]
    return "".join(f"{round(opacity * a + (1 - opacity) * b):02x}" for a, b in pairs)


@pytest.fixture(params=[0, 1], ids=["day", "night"])
def palette(request: pytest.FixtureRequest) -> dict[str, str]:
    return palettes()[int(request.param)]


def test_contrast_agrees_with_the_standard() -> None:
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.01)


def test_text_has_enough_contrast_with_its_background(palette: dict[str, str]) -> None:
    for behind in ("card", "page"):
        for message in ("ink", "faint", "link", "good", "poor"):
            assert contrast(palette[message], palette[behind]) >= TEXTS, (message, behind)
    assert contrast(palette["ink"], palette["warn"]) >= TEXTS


def test_series_have_enough_contrast(palette: dict[str, str]) -> None:
    for number in range(1, 9):
        assert contrast(palette[f"series-{number}"], palette["card"]) >= MARKS, number


def test_values_have_enough_contrast_with_the_strongest_shade_of_a_heat_map(palette: dict[str, str]) -> None:
    assert contrast(palette["ink"], mixed(palette["series-1"], palette["card"], 0.5)) >= TEXTS
