"""Characters that a terminal would interpret are replaced; everything else remains unchanged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nameplate.control_characters import REPLACEMENT, clean_json, clean_text

OBEYED = ["\x1b[2J", "\x1b]52;c;aGk=\x07", "\x9b31m", "\x07", "\x7f", "\r", "\u202e", "\u2066", "\u2028", "\x00"]


@pytest.mark.parametrize("text", OBEYED)
def test_no_control_character_reaches_a_terminal(text: str) -> None:
    for cleaned in (clean_text(f"a{text}b"), json.loads(clean_json(json.dumps(f"a{text}b").encode()))):
        assert cleaned == "a" + REPLACEMENT + clean_text(text)[1:] + "b"
        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in cleaned)


@pytest.mark.parametrize("escaped", [True, False])
def test_keys_and_nested_strings_are_cleaned_too(escaped: bool) -> None:
    line = json.dumps({"a\x9b": [{"b": "\x9bc"}]}, ensure_ascii=escaped).encode()
    assert json.loads(clean_json(line)) == {"a" + REPLACEMENT: [{"b": REPLACEMENT + "c"}]}


def test_ordinary_text_is_unchanged() -> None:
    line = json.dumps({"a": "±5 %, ünïcode, 日本"}, ensure_ascii=False).encode()
    assert clean_json(line) is line
    assert clean_text("two\nlines\tand more") == "two\nlines\tand more"


def test_a_json_string_stays_on_one_line() -> None:
    assert json.loads(clean_json(json.dumps({"a\nb": ["c\td"]}).encode())) == {"a b": ["c d"]}


@given(
    st.recursive(
        st.none() | st.integers(-(2**53), 2**53) | st.text(),
        lambda item: st.lists(item) | st.dictionaries(st.text(), item),
    )
)
def test_cleaned_text_is_otherwise_unchanged(value: object) -> None:
    try:
        line = json.dumps(value).encode()
        cleaned = clean_json(line)
    except UnicodeEncodeError:
        return
    text = json.dumps(json.loads(cleaned), ensure_ascii=False)
    assert clean_text(text) == text
    if cleaned is line:
        assert json.loads(cleaned) == value
