"""Provide the page's two scripts, and the content security policy that allows nothing else to run or to be fetched."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache

import vl_convert

from nameplate.report.html.embed import packed

# The page's script calls this function; the bundle defines no other global name.
_EXPORTS = "window.vegaEmbed = vegaEmbed;"


@dataclass(frozen=True)
class Bundle:
    """The chart libraries in the form in which the page contains them, and the hash of the script that the page makes
    of them.
    """

    packed: str
    hash: str


@cache
def chart_bundle() -> Bundle:
    """Return the bundle, extended by the global name that the page's script calls."""
    source = vl_convert.javascript_bundle(_EXPORTS)
    return Bundle(packed(source.encode()), script_hash(source))


def script_hash(script: str) -> str:
    """Return a script's hash in the form that a content security policy uses."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def policy(*hashes: str) -> str:
    """Return the page's content security policy, which allows the scripts with these hashes."""
    scripts = " ".join(hashes)
    return f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
