"""Replace characters that control a terminal: escape sequences, C1 controls, and changes of text direction.

Text from files is cleaned once, where it is decoded. Sources: ECMA-48 (control functions), Unicode TR 9 and
CVE-2021-42574 (bidirectional controls).
"""

from __future__ import annotations

import re
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Newlines and tabs are text. U+2028 and U+2029 end lines; the other characters above U+2000 change the direction.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# The same characters in the bytes of JSON, literally or as escapes. The pattern may match other text, too.
_MAYBE_IN_JSON = re.compile(
    rb"\\u00[0189]|\\u007[fF]|\\u20[26]|\\[bfnrt]|\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
)


def clean_text(text: str) -> str:
    """Return the text with each control character replaced by U+FFFD, except newlines and tabs; CR LF becomes LF first.

    Control characters are the C0 controls (including a CR without LF), DEL, the C1 controls, U+2028 to U+202E and
    U+2066 to U+2069.
    """
    return _CONTROLS.sub(REPLACEMENT, text.replace("\r\n", "\n"))


def clean_json(line: bytes) -> bytes:
    """Return a JSON document in which no string, keys included, has a control character.

    ``line`` is one JSON document in UTF-8. A control character, as defined for ``clean_text``, becomes U+FFFD; newlines
    and tabs in strings become spaces, since a name must not add a line to a table. If two keys of an object become
    equal, the later value is returned. A document that cannot contain such a character is returned as is, without being
    decoded or checked.

    Raises:
        DecodeError: msgspec cannot decode the document.
        UnicodeDecodeError: the document is not UTF-8.
        RecursionError: the document is nested too deeply.
    """
    # Nearly every line is plain ASCII, and these three searches take a tenth of the time of the regular expression.
    is_plain = line.isascii() and b"\\" not in line and b"\x7f" not in line
    if is_plain or not _MAYBE_IN_JSON.search(line):
        return line
    import msgspec  # noqa: PLC0415 (help and errors need none of it)

    return msgspec.json.encode(_cleaned(msgspec.json.decode(line)))


def escape_in_json(text: str) -> str:
    """Return a JSON document with each control character (see ``clean_text``) as an escape such as ``\\u009b``.

    ``text`` must be a valid JSON document without carriage returns between values, so that all its control characters
    are inside strings. Newlines and tabs between values stay.
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _in_a_line(text: str) -> str:
    return clean_text(text).replace("\n", " ").replace("\t", " ")


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return _in_a_line(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {_in_a_line(name): _cleaned(item) for name, item in value.items()}
        case _:
            return value
