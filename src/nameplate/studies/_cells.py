"""Make the cells of a study's tables: the value of the run, the published value with its digits, and their evidence."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyValue
from nameplate.studies._measured import remarks_of
from nameplate.studies.published import Printed

# The significant digits of a published number that is computed from printed ones.
_DIGITS = 4


def study_cell(
    here: StudyValue, published: Printed | str | None = None, result: Result | None = None, *,
    alternative: float | None = None, remarks: Sequence[str] = (),
) -> StudyCell:  # fmt: skip
    """Return a cell in the unit of its column, with the rounds, the seconds and the remarks of a result.

    ``result`` is the result that ``here`` is computed from, None if there is no single one. A series is measured once,
    so its number of rounds is None. ``alternative`` is the run's value by nameplate's definition. ``remarks`` precede
    those of the result (``remarks_of``).
    """
    evidence = result if result and result.summary.value is not None else None
    value, text = (published.value, published.text) if isinstance(published, Printed) else (published, "")
    rounds = evidence.summary.rounds if evidence and not evidence.is_series else None
    seconds = evidence.measured_s if evidence else None
    return StudyCell(here, value, alternative, [*remarks, *remarks_of(result)], text, rounds, seconds)


def computed(value: float | None) -> Printed | None:
    """Return a number that is computed from printed ones, with four significant digits; None stays None."""
    return None if value is None else Printed(value, f"{value:.{_DIGITS}g}")
