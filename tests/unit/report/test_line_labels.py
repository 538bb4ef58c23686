"""Labels at lines: near their own line, and clear of others."""

from __future__ import annotations

import math

from nameplate.report.charts.line_labels import LogPlane, position_labels

SIZES = [4096.0 * 2**power for power in range(15)]
PLANE = LogPlane((SIZES[0], SIZES[-1]), (1.0, 1000.0), 300)


def level(value: float, rising: float = 0.0) -> list[tuple[float, float]]:
    return [(size, value * (size / SIZES[0]) ** rising) for size in SIZES]


def test_a_label_is_next_to_its_own_line() -> None:
    labels = position_labels({"low": level(2), "high": level(500)}, PLANE)
    assert [label["line"] for label in labels] == ["low", "high"]
    for label, value in zip(labels, (2, 500), strict=True):
        assert math.isclose(float(label["y"]), value, rel_tol=0.5)
        assert float(label["x"]) > SIZES[7]


def test_a_label_between_two_lines_is_on_the_free_side() -> None:
    low, high = position_labels({"low": level(10), "high": level(11)}, PLANE)
    assert float(low["y"]) < 10
    assert float(high["y"]) > 11


def test_labels_of_crossing_lines_do_not_cover_a_line() -> None:
    lines = {"rising": level(1, 0.7), "falling": level(900, -0.7)}
    for position_label in position_labels(lines, PLANE):
        centre, height = PLANE.pixels(float(position_label["x"]), float(position_label["y"]))
        for line in lines.values():
            near = [PLANE.pixels(*point)[1] for point in line if abs(PLANE.pixels(*point)[0] - centre) < 15]
            assert all(abs(at - height) > 6 for at in near)


def test_without_room_for_all_there_are_none() -> None:
    assert position_labels({f"a line with a long name {i}": level(10 + i / 10) for i in range(6)}, PLANE) == []
    assert position_labels({"x" * 60: level(10), "other": level(100)}, PLANE) == []
