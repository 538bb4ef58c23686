"""nameplate: measure what a machine and its cluster deliver, and compare it with what they should deliver."""

# Type checkers take this name as true; importing it from typing would take longer than all else.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from nameplate.api import Report, Run, RunComparison, compare, measure, read, summarise
    from nameplate.errors import NameplateError

__version__ = "0.1.0"
__all__ = ["NameplateError", "Report", "Run", "RunComparison", "compare", "measure", "read", "summarise"]


def __getattr__(name: str) -> object:
    """Load a name of ``__all__`` when it is used first, so that the import itself takes no time."""
    if name not in __all__:
        raise AttributeError(f"module 'nameplate' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415 (only if a name is used)

    return getattr(import_module("nameplate.errors" if name == "NameplateError" else "nameplate.api"), name)
