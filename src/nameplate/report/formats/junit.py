"""Write verdicts as JUnit XML, which CI systems show as tests.

Source: https://github.com/testmoapp/junitxml, since the format has no standard of its own
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from xml.etree import ElementTree

Outcome: TypeAlias = Literal["passed", "failure", "error", "skipped"]
# Everything that XML 1.0 does not allow, even as an entity. Names and reasons come from files.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class VerdictTest:
    """A verdict as a test: the group that viewers show it in, its name, what became of it, and why in one line."""

    group: str
    name: str
    outcome: Outcome
    message: str


def junit_text(suite: str, tests: Sequence[VerdictTest], notes: Sequence[str] = ()) -> str:
    """Return JUnit XML with one suite, whose output are the notes, a line each.

    A test that did not pass has an element ``failure``, ``error`` or ``skipped`` with the message; for one that passed,
    the message is its output. Characters that XML does not allow are replaced with U+FFFD.
    """
    counts = Counter(test.outcome for test in tests)
    numbers = {"tests": len(tests), "failures": counts["failure"], "errors": counts["error"]}
    root = ElementTree.Element("testsuites", {name: str(number) for name, number in numbers.items()})
    own = ElementTree.SubElement(root, "testsuite", {"name": suite, **root.attrib, "skipped": str(counts["skipped"])})
    for test in tests:
        case = ElementTree.SubElement(own, "testcase", {"classname": _text(test.group), "name": _text(test.name)})
        if test.outcome == "passed":
            ElementTree.SubElement(case, "system-out").text = _text(test.message)
        else:
            ElementTree.SubElement(case, test.outcome, {"message": _text(test.message)})
    if notes:
        ElementTree.SubElement(own, "system-out").text = _text("\n".join(notes))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
