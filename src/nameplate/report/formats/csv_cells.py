"""Protect the cells of CSV files from being read as formulas."""

from __future__ import annotations

_FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")


def plain(value: object) -> object:
    """Return ``value`` with the prefix ``'`` if it is text that a spreadsheet would read as a formula.

    This is text that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return. Other text and values of other
    types, such as numbers and None, are returned unchanged. Source: OWASP, "CSV Injection".
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_BEGINS) else value
