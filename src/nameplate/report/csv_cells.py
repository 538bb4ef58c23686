"""Protect the cells of CSV files from being read as formulas."""

from __future__ import annotations

_FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")


def plain(value: object) -> object:
    """Return a cell that no spreadsheet reads as a formula: text that starts like one is prefixed with a quote.

    Source: OWASP, "CSV Injection".
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_BEGINS) else value
