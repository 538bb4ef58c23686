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
    """A verdict as a JUnit test case.

    ``group`` becomes the class name, by which viewers group tests, such as "nameplate.memory_stream". ``message`` is
    one line that explains the outcome.
    """

    group: str
    name: str
    outcome: Outcome
    message: str


def junit_text(suite: str, tests: Sequence[VerdictTest], notes: Sequence[str] = ()) -> str:
    """Return JUnit XML with one test suite named ``suite``, which has the tests in the given order.

    The message of a passed test is in the element ``system-out`` of the test, the message of another test in an element
    ``failure``, ``error`` or ``skipped``. ``notes``, if there are any, are in the element ``system-out`` of the suite,
    one per line. Characters that XML does not allow are replaced with U+FFFD.
    """
    counts = Counter(test.outcome for test in tests)
    numbers = {"tests": len(tests), "failures": counts["failure"], "errors": counts["error"]}
    root = ElementTree.Element("testsuites", {name: str(number) for name, number in numbers.items()})
    element = ElementTree.SubElement(
        root, "testsuite", {"name": suite, **root.attrib, "skipped": str(counts["skipped"])}
    )
    for test in tests:
        case = ElementTree.SubElement(element, "testcase", {"classname": _text(test.group), "name": _text(test.name)})
        if test.outcome == "passed":
            ElementTree.SubElement(case, "system-out").text = _text(test.message)
        else:
            ElementTree.SubElement(case, test.outcome, {"message": _text(test.message)})
    if notes:
        ElementTree.SubElement(element, "system-out").text = _text("\n".join(notes))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
