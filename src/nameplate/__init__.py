"""nameplate: measure what a machine and its cluster deliver, and compare it with what they should deliver."""

# Type checkers treat this name as true. Importing the constant from typing would take most of the import time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from nameplate.api import Report, Run, RunComparison, compare, export, measure, read, read_output, summarise
    from nameplate.errors import NameplateError

__version__ = "0.1.0"
__all__ = ["NameplateError", "Report", "Run", "RunComparison", "compare", "export", "measure", "read", "read_output",
           "summarise"]  # fmt: skip


def __getattr__(name: str) -> object:
    """Return the object of ``__all__`` with this name; it is imported at its first use, not by ``import nameplate``.

    Raises:
        AttributeError: ``name`` is not in ``__all__``.
    """
    if name not in __all__:
        raise AttributeError(f"module 'nameplate' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415 (only if a name is used)

    return getattr(import_module("nameplate.errors" if name == "NameplateError" else "nameplate.api"), name)
