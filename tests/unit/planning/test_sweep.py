"""Sizes, sweeps and parameters in the notation of the command line."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameplate.errors import UsageError
from nameplate.planning.sweep import Parameter, ProbeInfo, expand, experiments, parse_values, split_arguments
from nameplate.suggestion import nearest
from nameplate.units import (
    DURATION_UNITS,
    SIZE_UNITS,
    geometric,
    memory_text,
    parse_bit_rate,
    parse_duration,
    parse_fraction,
    parse_quantity,
    parse_size,
    size_text,
)

SIZE = Parameter(name="size", type="size", summary="", default="8", automatic="", minimum=1, maximum=2**40)
COUNT = Parameter(name="threads", type="integer", summary="", default=None, automatic="x", minimum=1, maximum=4096)
WORD = Parameter(name="op", type="choice", summary="", default="read", automatic="", choices=["read", "write"])
TIME = Parameter(name="duration", type="duration", summary="", default="1s", automatic="", minimum=0, maximum=3600)
PROBE = ProbeInfo("test", "", [], [SIZE, COUNT, WORD, TIME], [], [])


@pytest.mark.parametrize(
    ("text", "size"),
    [("8", 8), ("8B", 8), ("8KiB", 8192), ("80MB", 80_000_000), ("1.5GiB", 1_610_612_736), ("3.125KB", 3125)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"), (512, "512 B"), (4096, "4 KiB"), (64 << 20, "64 MiB"), (1000 << 20, "1000 MiB"),
        (1 << 30, "1.0 GiB"), (269_942_374_195, "251.4 GiB"),
    ],
)  # fmt: skip
def test_a_size_of_memory_has_a_unit_in_which_it_is_not_zero(size: int, text: str) -> None:
    assert memory_text(size) == text


@given(st.integers(0, 10**12), st.sampled_from(sorted(SIZE_UNITS)))
def test_every_formatted_size_is_parsed_back(number: int, unit: str) -> None:
    assert parse_size(f"{number}{unit}") == number * SIZE_UNITS[unit]


@given(st.decimals(0, 277_777, places=6), st.sampled_from(sorted(DURATION_UNITS)))  # hours: the longest run
def test_every_formatted_duration_is_parsed_back(number: object, unit: str) -> None:
    assert parse_duration(f"{number:f}{unit}") == pytest.approx(float(str(number)) * float(DURATION_UNITS[unit]))


@given(st.text(max_size=20))
def test_any_text_is_a_size_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        assert parse_size(text) >= 0


@given(st.text(alphabet="0123456789.,*+KMGiB", max_size=24))
def test_any_sweep_gives_values_in_range_or_a_usage_error(text: str) -> None:
    for parameter in (SIZE, COUNT):
        with suppress(UsageError):
            values = parse_values(parameter, text)
            assert values
            assert all(isinstance(v, int) and parameter.minimum <= v <= parameter.maximum for v in values)


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.floats(1.01, 100))
def test_a_geometric_range_has_both_ends_and_grows_by_the_factor(low: int, more: int, factor: float) -> None:
    grid = geometric(low, low + more, factor)
    assert grid[0] == low
    assert grid[-1] == low + more
    assert all(a < b <= (a + 0.5) * factor**1.5 + 0.5 for a, b in pairwise(grid))


def test_ranges() -> None:
    assert parse_values(SIZE, "1KiB..8KiB*2") == [1024, 2048, 4096, 8192]
    assert parse_values(SIZE, "1KB..3KB+1000") == [1000, 2000, 3000]
    assert parse_values(COUNT, "1..8+2") == [1, 3, 5, 7, 8]
    assert parse_values(COUNT, "1,2,4,8,2") == [1, 2, 4, 8]
    assert len(parse_values(SIZE, "1KiB..1GiB*1.09050773")) == 161


@pytest.mark.parametrize(
    ("parameter", "text", "message"),
    [
        (SIZE, "8 KiB", "size: '8 KiB' is not a size: write it like 8, 8KiB or 80MB"),
        (SIZE, "8KiB..1KiB*2", "the range starts above its end"),
        (SIZE, "1KiB..8KiB*1", "not a factor; use a number from 1.001"),
        (SIZE, "1..4TiB*2", "out of range; use 1 to 1.09951e+12"),
        (SIZE, "1..1TiB+1", "the step gives no values, or more than 10000"),
        (COUNT, "0", "threads=0: out of range; use 1 to 4096"),
        (COUNT, "1.5", "is not a whole number"),
        (WORD, "raed", "did you mean 'read'?"),
        (WORD, "read..write*2", "only sizes and whole numbers can have ranges"),
        (TIME, "10", None),
        (TIME, "10 minutes", "is not a duration"),
    ],
)
def test_errors_name_the_valid_values(parameter: Parameter, text: str, message: str | None) -> None:
    if message is None:
        assert parse_values(parameter, text)
        return
    with pytest.raises(UsageError) as caught:
        parse_values(parameter, text)
    assert message in str(caught.value)


def test_experiments_are_every_combination() -> None:
    swept = experiments(PROBE, {"op": "read,write", "threads": "1,2"}, 0.5)
    assert [experiment.id for experiment in swept] == [
        "test op=read threads=1", "test op=read threads=2", "test op=write threads=1", "test op=write threads=2",
    ]  # fmt: skip
    assert all(experiment.slice_s == 0.5 for experiment in swept)


def test_an_unknown_parameter_suggests_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="has no parameter 'thread'; did you mean 'threads'"):
        expand(PROBE, {"thread": "1"})


def test_a_sweep_has_a_limit() -> None:
    with pytest.raises(UsageError, match="more than 10000 experiments"):
        expand(PROBE, {"threads": "1..200+1", "size": "1..200+1"})


@pytest.mark.parametrize("arguments", [["isa"], ["=1"], ["isa="], ["a=1", "a=2"]])
def test_invalid_arguments_are_rejected(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        split_arguments(arguments)


def test_quantities() -> None:
    assert parse_quantity("59.5GB/s") == (59.5e9, "B/s")
    assert parse_quantity("10Gbit/s") == (10e9, "bit/s")
    assert parse_quantity("3.5GHz") == (3.5e9, "Hz")
    assert parse_quantity("2TFLOP/s") == (2e12, "FLOP/s")
    assert parse_quantity("5ms") == (5e-3, "s")
    assert parse_quantity("10Gbps") == parse_quantity("10Gbit/s")
    assert parse_quantity("1.5GBps") == parse_quantity("1.5GB/s")
    for text in ("5", "5 GB/s", "GB/s", "5GB", "5XB/s"):
        with pytest.raises(UsageError):
            parse_quantity(text)


def test_shares() -> None:
    assert parse_fraction("2%") == 0.02
    assert parse_fraction("0.02") == 0.02
    with pytest.raises(UsageError):
        parse_fraction("2 percent")


def test_a_range_with_a_root_as_its_factor() -> None:
    """Check that there are eight sizes per octave, and that each octave ends exactly."""
    values = parse_values(SIZE, "1KiB..1MiB*2^(1/8)")
    assert len(values) == 81
    assert values[::8] == [2**power for power in range(10, 21)]


@pytest.mark.parametrize("factor", ["2^(1/0)", "2^(1/8", "2^(1/100000)", "1^(1/8)"])
def test_an_invalid_root_is_rejected(factor: str) -> None:
    with pytest.raises(UsageError):
        parse_values(SIZE, f"1KiB..1MiB*{factor}")


def test_every_fourth_point_of_a_curve_and_its_ends_are_always_measured() -> None:
    info = ProbeInfo("p", "", [], [SIZE, COUNT], [], [])
    swept = experiments(info, {"size": "1KiB..64KiB*2^(1/2)", "threads": "1,2"}, 0.1, 0.01, curve="size")
    certain = {int(experiment.params["size"]) for experiment in swept if not experiment.dense}
    assert certain == {1024, 4096, 16384, 65536}
    assert len([experiment for experiment in swept if not experiment.dense]) == 8
    assert {(experiment.slice_s, experiment.sample_s) for experiment in swept} == {(0.1, 0.01)}


@pytest.mark.parametrize(
    ("size", "text"),
    [(1, "1B"), (1000, "1KB"), (1024, "1KiB"), (8192, "8KiB"), (80_000_000, "80MB"), (83_886_080, "80MiB"),
     (1_280_000_000, "1280MB"), (134_217_246, "128MiB"), (28_160.5, "27.5KiB"),
     (38_547, "37.6KiB"), (0, "0B"), (1_000_003, "977KiB")],
)  # fmt: skip
def test_sizes_in_common_notations(size: float, text: str) -> None:
    assert size_text(size) == text


def test_a_choice_with_a_percentage() -> None:
    op = Parameter(name="op", type="choice", summary="", default="read", automatic="", choices=["read", "readwrite"],
                   percent_of="readwrite")  # fmt: skip
    assert parse_values(op, "read,readwrite,readwrite:70") == ["read", "readwrite", "readwrite:70"]
    for text in ("read:70", "readwrite:0", "readwrite:100", "readwrite:x"):
        with pytest.raises(UsageError, match="not a valid value"):
            parse_values(op, text)


def test_a_path_is_not_a_range() -> None:
    position = Parameter(name="file", type="text", summary="", default=None, automatic="here")
    assert parse_values(position, "../a*b,/tmp") == ["../a*b", "/tmp"]


@pytest.mark.parametrize(("text", "rate"), [("10Gbps", 10**10), ("10Gbit/s", 10**10), ("5bps", 5), ("1.5kbps", 1500)])
def test_rates_of_networks_have_two_spellings(text: str, rate: int) -> None:
    assert parse_bit_rate(text) == rate


@pytest.mark.parametrize("text", ["10GBps", "bps", "1mbps", "10 Gbps"])
def test_other_spellings_are_no_rates(text: str) -> None:
    with pytest.raises(UsageError, match="not a rate"):
        parse_bit_rate(text)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("disk", "did you mean 'disk_block'?"), ("network", "did you mean 'net_pingpong' or 'net_stream'?"),
        ("nett_stream", "did you mean 'net_stream'?"), ("gpu", "available: disk_block, net_pingpong, net_stream"),
    ],
)  # fmt: skip
def test_similar_names_are_suggested(name: str, suggestion: str) -> None:
    assert nearest(name, ["net_stream", "net_pingpong", "disk_block"]) == suggestion
