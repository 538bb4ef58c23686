"""Provide the page's two scripts, and a content security policy that allows no other script and no network access."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec
import vl_convert

from nameplate.errors import FileError
from nameplate.records.user_cache import cache_folder, read_cached, write_cached
from nameplate.report.html.embed import packed

# The page's script calls this function; the bundle defines no other global name.
_EXPORTS = "window.vegaEmbed = vegaEmbed;"
_MAX_CACHED_BYTES = 4 << 20


@dataclass(frozen=True)
class Bundle:
    """The chart libraries in the form in which the page contains them.

    ``packed`` is their script, compressed by gzip and encoded as base64. ``hash`` is the ``script_hash`` of the script,
    which the page unpacks and runs.
    """

    packed: str
    hash: str


@cache
def chart_bundle() -> Bundle:
    """Return the script of Vega, Vega-Lite and vega-embed, which defines ``window.vegaEmbed``.

    The libraries are part of the package vl-convert, so nothing is downloaded. The bundle is built once for each
    version of vl-convert, which takes some seconds, and kept in the user's cache.
    """
    return _cached_bundle() or _made_bundle()


def _cached_bundle() -> Bundle | None:
    """Return the bundle for the installed vl-convert from the user's cache, or None if it is missing or damaged."""
    try:
        content = read_cached(_cache_file(), _MAX_CACHED_BYTES, "bundle")
        bundle = msgspec.json.decode(content, type=Bundle) if content else None
        source = gzip.decompress(base64.b64decode(bundle.packed)).decode() if bundle else ""
    except (FileError, ValueError, OSError, EOFError, zlib.error):
        return None
    return bundle if bundle and bundle.hash == script_hash(source) else None


def _made_bundle() -> Bundle:
    source = vl_convert.javascript_bundle(_EXPORTS)
    bundle = Bundle(packed(source.encode()), script_hash(source))
    with suppress(FileError):  # without a cache, the bundle is built again next time
        write_cached(msgspec.json.encode(bundle), _cache_file())
    return bundle


def _cache_file() -> Path:
    return cache_folder("charts") / f"vl-convert-{version('vl-convert-python')}.json"


def script_hash(script: str) -> str:
    """Return the source expression ``'sha256-…'``, with quotes, by which a content security policy allows a script.

    ``script`` is the exact text of the HTML element, which is hashed as UTF-8. Source: W3C, Content Security Policy
    Level 3.
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def policy(*hashes: str) -> str:
    """Return the page's content security policy: only scripts with the given hashes run, and nothing is fetched.

    ``hashes`` are values that ``script_hash`` returned; without any, no script runs. Inline styles are allowed.
    """
    scripts = " ".join(hashes)
    return f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
