"""LINPACK's table of single trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.results.published import published_items
from nameplate.results.studies._measured import StudyRun

_COLUMNS = [StudyColumn("time", "s"), StudyColumn("rate", "GFLOP/s"), StudyColumn("residual (norm)"),
            StudyColumn("check")]  # fmt: skip
# A scaled residual below it passes, as in HPL.
_MAX_RESIDUAL = 16.0


def linpack_trials(measured: StudyRun, threads: int, sizes: Sequence[int]) -> StudyTable:
    """Return the table of LINPACK's trials: time, rate, scaled residual and check, here and in the study.

    ``sizes`` are the numbers of unknowns, and ``threads`` is the number of threads of the run's trials. There is one
    row for each trial that was measured or published, and no row if there is none. The residual is scaled as HPL does
    it, and the check is "pass" if it is below 16, as in HPL, otherwise "FAIL". The published values are those of the
    plan ``measured.plan``.
    """
    printed = published_items(measured.plan, "linpack-trials")
    rows: dict[str, list[StudyCell]] = {}
    for n in sizes:
        params = {"n": n, "threads": threads}
        rates = _values(measured.find("cpu_linpack", "rate", params))
        residuals = _values(measured.find("cpu_linpack", "residual", params))
        most = max(len(rates), sum(name.startswith(f"n={n} trial=") and name.endswith("rate") for name in printed))
        for trial in range(most):
            here = (rates[trial], residuals[trial]) if trial < min(len(rates), len(residuals)) else None
            rows[f"{n:,}, trial {trial + 1}"] = _row(n, here, _printed(printed, n, trial + 1))
    return StudyTable(
        title=f"LINPACK, each trial, {threads} threads", corner="unknowns", rows=list(rows), columns=_COLUMNS,
        cells=list(rows.values()), has_ratio=False, notes=[_definition(measured, sizes)],
    )  # fmt: skip


def _values(found: Result | None) -> Sequence[float]:
    return found.series.value if found and found.summary.value is not None else []


def _printed(printed: Mapping[str, float], n: int, trial: int) -> tuple[float | None, float | None, float | None]:
    name = f"n={n} trial={trial}"
    has_trial = f"{name} rate" in printed
    return (
        printed.get(f"{name} time"), printed.get(f"{name} rate"),
        printed.get(f"n={n} residual (norm)") if has_trial else None,
    )  # fmt: skip


def _row(n: int, here: tuple[float, float] | None, printed: tuple[float | None, ...]) -> list[StudyCell]:
    operations = 2 / 3 * n**3 + 3 / 2 * n**2
    time_s = operations / here[0] if here else None
    check = None if here is None else "pass" if here[1] < _MAX_RESIDUAL else "FAIL"
    return [
        StudyCell(time_s, printed[0]), StudyCell(here[0] / 1e9 if here else None, printed[1]),
        StudyCell(here[1] if here else None, printed[2]), StudyCell(check, "pass" if printed[1] else None),
    ]  # fmt: skip


def _definition(measured: StudyRun, sizes: Sequence[int]) -> str:
    found = next((r for n in sizes if (r := measured.find("cpu_linpack", "rate", {"n": n})) and r.labels), None)
    blas = f" by {found.labels.get('blas', 'LAPACK')}" if found else ""
    return (
        f"Rate: (2/3 n³ + 3/2 n²) ÷ time{blas}. Residual (norm): of HPL, ‖Ax − b‖∞ ÷ (ε (‖A‖∞ ‖x‖∞ + ‖b‖∞) n); Intel's "
        "program divides by other norms, so that the two residuals compare in magnitude only."
    )
