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
    """The chart libraries as the page contains them.

    ``packed`` is the script, compressed by gzip and encoded as base64. ``hash`` is the ``script_hash`` of the script
    that the page unpacks from it and runs.
    """

    packed: str
    hash: str


@cache
def chart_bundle() -> Bundle:
    """Return the script of Vega, Vega-Lite and vega-embed, which defines ``window.vegaEmbed`` for the page's script.

    The libraries are part of vl-convert; nothing is fetched. The bundle is made once per process.
    """
    source = vl_convert.javascript_bundle(_EXPORTS)
    return Bundle(packed(source.encode()), script_hash(source))


def script_hash(script: str) -> str:
    """Return the source expression ``'sha256-…'``, with its quotes, by which a content security policy allows a script.

    ``script`` is the exact text of the script element, which is hashed as UTF-8. Source: W3C, Content Security Policy
    Level 3.
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def policy(*hashes: str) -> str:
    """Return the page's content security policy: only scripts with these hashes run, and nothing is fetched.

    ``hashes`` are values of ``script_hash``; without any, no script runs. Inline styles are allowed.
    """
    scripts = " ".join(hashes)
    return f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
