"""The check of names: which names it refuses in C++ and Python, and which it must accept."""

from __future__ import annotations

from pathlib import Path

import pytest

import banned_names

CPP = r"""#include "net/own_peer.h"
// A comment about what was found.
struct OwnPeer {
  const char* kBegin = "each place";
  std::string raw = R"(whole words)";
  int first = 1'000, others_ = 'x';
};
TEST(Peer, TheOwnPeerIsFound) { throw std::runtime_error(error.what()); }
int next(const std::vector<int>& values) { return *std::begin(values) + *values.begin() + values.front(what); }
FMT_BEGIN_NAMESPACE
"""

PYTHON = '''"""What is found."""
import argparse as words
class Cannot(Exception):
    told: str
    def __init__(self, own_text, *, wanted=None): self.kept = own_text.found
def test_each(): pass
for placed in such(place=1): pass
try:
    pass
except OSError as again:
    match again:
        case {"whole": _, **others}: placement = "usual"
'''


def refused(path: str, source: str) -> list[str]:
    """Return the line and the name of each violation."""
    violations = (violation.split(": ") for violation in banned_names.violations(Path(path), source))
    return [f"{location.removeprefix(f'{path}:')} {name}" for location, name, *_ in violations]


def test_names_in_cpp_are_refused_but_not_comments_literals_tests_and_what_the_standard_library_demands() -> None:
    assert refused("core/net/x.cpp", CPP) == ["3 OwnPeer", "4 kBegin", "6 others_", "9 what"]


def test_names_that_python_defines_are_refused() -> None:
    assert refused("src/nameplate/x.py", PYTHON) == [
        "2 words", "3 Cannot", "4 told", "5 kept", "5 own_text", "5 wanted", "6 test_each", "10 again", "12 others"
    ]  # fmt: skip


@pytest.mark.parametrize(("path", "exempt"), [("tests/unit/test_x.py", True), ("src/nameplate/x.py", False)])
def test_the_name_of_a_test_is_a_sentence(path: str, exempt: bool) -> None:
    assert bool(refused(path, "def test_each_own(): pass")) is not exempt


def test_a_file_has_no_banned_name() -> None:
    assert list(banned_names.violations(Path("core/net/own_peer.h"), ""))


@pytest.mark.parametrize("name", ["own", "_own_peer", "OwnPeer", "kOwn_s", "HTTPOwn", "OWN_PEER", "peer_own2"])
def test_a_word_is_banned_as_any_part_of_a_name(name: str) -> None:
    assert banned_names.remedy(name) == banned_names.BANNED_PARTS["own"]


@pytest.mark.parametrize("name", ["owner", "displaced", "known", "BEGINNER", "against", "cannot_open"])
def test_a_part_of_a_word_is_no_word(name: str) -> None:
    assert banned_names.remedy(name) is None
