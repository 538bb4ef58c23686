"""Host lists in Slurm's notation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameplate.errors import UsageError
from nameplate.hostlist import MAX_HOSTS, compress, expand

NAMES = st.text("ab019.-", min_size=1, max_size=6)
NUMBERED = st.builds(
    lambda prefix, first, count, width: [f"{prefix}{n:0{width}d}" for n in range(first, first + count)],
    st.sampled_from(["node", "rack1-n", ""]),
    st.integers(0, 1200),
    st.integers(1, 20),
    st.integers(1, 5),
)


@given(st.lists(st.one_of(NAMES.map(lambda name: [name]), NUMBERED), max_size=5))
def test_a_list_gives_the_same_names_in_the_same_order(groups: list[list[str]]) -> None:
    names = [name for group in groups for name in group]
    assert expand(compress(names)) == names


@given(NUMBERED)
def test_consecutive_names_become_one_range(names: list[str]) -> None:
    assert "," not in compress(names)
    assert compress(names).count("[") == (len(names) > 1)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["node001", "node002", "node003"], "node[001-003]"),
        (["n8", "n9", "n10"], "n[8-10]"),
        (["n1", "n7", "n008", "n009", "n10"], "n[1,7,008-009,10]"),
        (["n3", "n1", "n2"], "n[3,1-2]"),
        (["n0999", "n1000"], "n[0999-1000]"),
        (["login", "n1", "n2", "m1"], "login,n[1-2],m1"),
        (["n1-ib", "n2-ib"], "n1-ib,n2-ib"),
        (["r1n1", "r1n2", "r2n1", "r2n2"], "r1n[1-2],r2n[1-2]"),
        (["n1", "n1"], "n[1,1]"),
        (["1", "2"], "[1-2]"),
        (["node1"], "node1"),
        ([], ""),
    ],
)
def test_lists_are_compressed_as_slurm_does(names: list[str], text: str) -> None:
    assert compress(names) == text
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("r[1-2]n[08-09]", ["r1n08", "r1n09", "r2n08", "r2n09"]),
        ("n[1-2]-ib,login", ["n1-ib", "n2-ib", "login"]),
        ("n[1-0003]", ["n1", "n2", "n3"]),
    ],
)
def test_brackets_may_be_anywhere(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n[3-1]", "'3-1' is not a range"),
        ("n[]", "'' is not a range"),
        ("n[a-b]", "'a-b' is not a range"),
        ("n[1-2", "not a list of hosts"),
        ("n1-2]", "not a list of hosts"),
        ("a,,b", "not a list of hosts"),
        ("n[0-999999999999]", "with at most"),
        ("n[0-9999][0-9999]", f"more than {MAX_HOSTS} hosts"),
    ],
)
def test_an_invalid_list_is_reported_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        expand(text)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)
