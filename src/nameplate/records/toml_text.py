"""Parse TOML files of unknown origin."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from nameplate.errors import FileError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Far more than the parts of any key.
_MAX_DOTS = 200
_LONG_NUMBER = re.compile(r"[\d_]{4000,}")
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'[^\']*\'')


def parse_toml(path: Path, text: str) -> dict[str, Any]:
    """Return the tables of a TOML document; ``path`` is its file, for error messages.

    Raises:
        FileError: ``text`` is not TOML, or would take too long to parse. The message has the line if it is known.
    """
    # The parser's time and memory are quadratic in the number of parts of a dotted key.
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > _MAX_DOTS and _QUOTED.sub("", line).count(".") > _MAX_DOTS:
            raise FileError(f"{path}: line {number} has more than {_MAX_DOTS} dots; shorten it")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FileError(f"{path}: lists or tables are nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{path}: {error}") from None
    except ValueError:  # Python refuses to convert thousands of digits
        lines = enumerate(text.splitlines(), start=1)
        location = next((f"line {number}" for number, line in lines if _LONG_NUMBER.search(line)), "a line")
        raise FileError(f"{path}: {location} has a number of thousands of digits; shorten it") from None
