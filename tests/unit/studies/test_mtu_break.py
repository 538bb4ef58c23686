"""The choice of the break point that the MTU of a link explains."""

from __future__ import annotations

from itertools import pairwise

import pytest

from machines import MACHINE, machine_with
from nameplate.probes.shared.message_cost import Cost
from nameplate.records.result import Quantity
from nameplate.statistics.piecewise_linear import Bounds, Break, FittedLine, Lines
from nameplate.studies._mtu_break import MtuBreak, NoMtuBreak, find_mtu_break

ETHERNET = machine_with(job={"mtu_bytes": {"eth0": 1500.0}})


def cost(*breaks: tuple[float, float, float], pairs: int = 1, between_nodes: int = 1) -> Cost:
    """Return a curve with breaks (at, low, high), whose i-th line has t_s = i µs and t_w = i ns/B."""
    edges = [0.0, *(at for at, _, _ in breaks), 100_000.0]
    lines = tuple(
        FittedLine((index + 1) * 1e-6, (index + 1) * 1e-9, first, last)
        for index, (first, last) in enumerate(pairwise(edges))
    )
    around = tuple(
        ((0.9 * line.startup_s, 1.1 * line.startup_s), (0.9 * line.per_byte_s, 1.1 * line.per_byte_s)) for line in lines
    )
    places = tuple(Break(at, is_jump=False, jump_s=0.0) for at, _, _ in breaks)
    bounds = Bounds(around, tuple((low, high) for _, low, high in breaks))
    return Cost({"pairs": pairs, "pairing": "block"}, (0, 100_000), Lines(lines, places), bounds, 6, between_nodes)


def named(mtu_break: MtuBreak | NoMtuBreak) -> MtuBreak:
    assert isinstance(mtu_break, MtuBreak), mtu_break
    return mtu_break


def reason(mtu_break: MtuBreak | NoMtuBreak) -> str:
    assert isinstance(mtu_break, NoMtuBreak), mtu_break
    return mtu_break.reason


def test_the_lines_next_to_the_break_at_the_mtu_are_chosen() -> None:
    actual = named(find_mtu_break(cost((300, 256, 384), (1460, 1300, 1600), (65_536, 65_000, 66_000)), ETHERNET))
    assert (actual.link, actual.mtu_bytes) == ("eth0", 1500)
    assert actual.at == Quantity(1460, "B", (1300, 1600))
    assert (actual.below.from_bytes, actual.below.to_bytes) == (300, 1460)
    assert (actual.above.from_bytes, actual.above.to_bytes) == (1460, 65_536)
    assert actual.below.startup.value == pytest.approx(2e-6)
    assert actual.above.per_byte.value == pytest.approx(3e-9)
    assert actual.above.per_byte.ci == pytest.approx((2.7e-9, 3.3e-9))
    bandwidth = actual.above.bandwidth("bit/s")
    assert bandwidth is not None
    assert bandwidth.value == pytest.approx(8 / 3e-9)


@pytest.mark.parametrize(
    ("low", "high", "is_near"),
    [
        (1460.0, 1500.0, True),
        (1000.0, 1034.0, True),  # 1,500 B minus 80 B and 128 B of headers, within a factor of 1.25
        (1000.0, 1033.0, False),
        (1875.0, 1900.0, True),
        (1876.0, 1900.0, False),
        (900.0, 1801.0, False),  # wider than a factor of two, so it would contain any limit
    ],
)
def test_near_means_within_a_factor_of_1_25_of_a_full_packet(low: float, high: float, is_near: bool) -> None:
    actual = find_mtu_break(cost((low, low, high)), ETHERNET)
    assert isinstance(actual, MtuBreak) is is_near


def test_the_break_whose_interval_contains_the_mtu_is_chosen_of_two() -> None:
    actual = named(find_mtu_break(cost((1200, 1150, 1250), (1700, 1450, 1800)), ETHERNET))
    assert actual.at.value == 1700


def test_the_nearer_break_is_chosen_if_both_intervals_contain_the_mtu() -> None:
    actual = named(find_mtu_break(cost((1310, 1290, 1500), (1480, 1450, 1510)), ETHERNET))
    assert actual.at.value == 1480


def test_of_several_links_the_one_is_named_whose_mtu_fits() -> None:
    machine = machine_with(job={"mtu_bytes": {"eth0": 9000.0, "ib0": 2044.0}})
    assert named(find_mtu_break(cost((1990, 1900, 2050)), machine)).link == "ib0"


def test_the_reason_why_no_break_is_named_is_given() -> None:
    at_mtu = (1460.0, 1400.0, 1500.0)
    assert "within one node" in reason(find_mtu_break(cost(at_mtu, between_nodes=0), ETHERNET))
    assert "only 1 of 2 pairs" in reason(find_mtu_break(cost(at_mtu, pairs=2), ETHERNET))
    assert reason(find_mtu_break(cost(at_mtu), machine_with(job={"ranks": 1}))) == "the MTU of the links is not known"
    assert reason(find_mtu_break(cost(at_mtu), MACHINE)) == "the MTU of the links is not known"
    assert reason(find_mtu_break(cost(), ETHERNET)) == "the curve has no break"
    far = reason(find_mtu_break(cost((65_536, 65_000, 66_000)), ETHERNET))
    assert far == "no break of this curve is near an MTU (eth0 = 1,500 B)"
