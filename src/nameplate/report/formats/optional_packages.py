"""Check for the packages that only the report and its charts need: those of ``pip install nameplate[report]``."""

from __future__ import annotations

from importlib.util import find_spec

from nameplate.errors import UsageError

_PACKAGES = ("altair", "jinja2", "vl_convert")


def check_report_packages(option: str) -> None:
    """Check that the packages are installed which draw charts and write the report; they are not imported.

    ``option`` is the command or the option that needs them, such as ``--report``, for the message.

    Raises:
        UsageError: a package is missing.
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise UsageError(f"{option} needs packages that are not installed: pip install 'nameplate[report]'")
