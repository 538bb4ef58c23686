"""The page's only two scripts, and the policy that lets nothing else run and nothing be fetched."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache

import vl_convert

from nameplate.report.html.embed import packed

# What the page's script needs of the bundle; nothing else becomes global by name.
_EXPORTS = "window.vegaEmbed = vegaEmbed;"


@dataclass(frozen=True)
class Bundle:
    """The chart libraries, as they stand in the page, and the hash of what the page makes of them."""

    packed: str
    hash: str


@cache
def chart_bundle() -> Bundle:
    """With the one name in it that the page's own script calls."""
    source = vl_convert.javascript_bundle(_EXPORTS)
    return Bundle(packed(source.encode()), script_hash(source))


def script_hash(script: str) -> str:
    """As a content security policy names a script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def policy(*hashes: str) -> str:
    """The page's content security policy: it allows the scripts with these hashes."""
    scripts = " ".join(hashes)
    return f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
