"""Cells of a CSV file that a spreadsheet takes for what they are."""

from __future__ import annotations

_FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")


def plain(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: text that begins like one gets a quote before it.

    Source: OWASP, "CSV Injection".
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_BEGINS) else value
