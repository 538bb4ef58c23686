"""Check for the packages of the extras, such as ``pip install 'nameplate[report]'``."""

from __future__ import annotations

from importlib.util import find_spec

from nameplate.errors import UsageError

# The modules of the packages of each extra in pyproject.toml.
_MODULES = {
    "fleet": ("ClusterShell",),
    "report": ("altair", "jinja2", "vl_convert"),
    "parquet": ("pyarrow",),
    "dataframe": ("pandas", "pyarrow"),
}


def check_extra(name: str, purpose: str) -> None:
    """Check that the packages of an extra are installed; they are not imported.

    ``name`` is "fleet", "report", "parquet" or "dataframe"; any other name raises KeyError. ``purpose`` is the option
    or function that needs the packages, such as ``--report`` or ``to_pandas()``; the error message begins with it.

    Raises:
        UsageError: a package is missing; the message has the ``pip install`` command.
    """
    if any(find_spec(module) is None for module in _MODULES[name]):
        raise UsageError(f"{purpose} needs packages that are not installed: pip install 'nameplate[{name}]'")
