"""Protect the cells of CSV files from being read as formulas."""

from __future__ import annotations

_FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")


def plain(value: object) -> object:
    """Return a cell that no spreadsheet reads as a formula: text that starts like a formula is prefixed with ``'``.

    Such text starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return. Other text, numbers and None are
    returned as they are. Source: OWASP, "CSV Injection".
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_BEGINS) else value
