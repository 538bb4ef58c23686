"""Replace characters that control a terminal: escape sequences, C1 controls, and changes of text direction.

Text from files is cleaned once, where it is decoded. Sources: ECMA-48 (control functions), Unicode TR 9 and
CVE-2021-42574 (bidirectional controls).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Newlines and tabs are text. U+2028 and U+2029 end lines; the other characters above U+2000 change the direction.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# The same characters in the bytes of JSON, also as escapes. It may match other text, too.
_MAYBE_IN_JSON = re.compile(
    rb"\\u00[0189]|\\u007[fF]|\\u20[26]|\\[bfnrt]|\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
)


def clean_text(text: str) -> str:
    """Return the text with each control character replaced by U+FFFD, except newlines and tabs; CR LF becomes LF first.

    The C0 controls, thus a lone CR, too, DEL, the C1 controls, U+2028 to U+202E and U+2066 to U+2069 count as control
    characters.
    """
    return _CONTROLS.sub(REPLACEMENT, text.replace("\r\n", "\n"))


def clean_json(line: bytes) -> bytes:
    """Return a JSON document whose strings, keys included, have no control characters.

    A control character, as in ``clean_text``, becomes U+FFFD. Newlines and tabs become spaces, since a name must not
    add a line to a table. ``line`` has one document in UTF-8. Of keys that become equal, the last one counts.
    The document is decoded and encoded again only if it may contain such a character; otherwise ``line`` itself is
    returned, and not checked. Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError for invalid JSON that is
    decoded.
    """
    # Nearly every line is plain ASCII, and these three searches take a tenth of the time of the regular expression.
    is_plain = line.isascii() and b"\\" not in line and b"\x7f" not in line
    if is_plain or not _MAYBE_IN_JSON.search(line):
        return line
    return msgspec.json.encode(_cleaned(msgspec.json.decode(line)))


def escape_in_json(text: str) -> str:
    """Return the same JSON document with each control character in it written as an escape such as ``\\u009b``.

    ``text`` is a valid JSON document, in which control characters occur only inside strings. Newlines and tabs between
    values are kept.
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _in_a_line(text: str) -> str:
    return clean_text(text).replace("\n", " ").replace("\t", " ")


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return _in_a_line(value)
        case list():
            return [_cleaned(each) for each in value]
        case dict():
            return {_in_a_line(name): _cleaned(each) for name, each in value.items()}
        case _:
            return value
