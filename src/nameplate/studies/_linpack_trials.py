"""LINPACK's table of single trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.studies._measured import StudyRun, series_values
from nameplate.studies.published import published_items

_COLUMNS = [StudyColumn("time", "s"), StudyColumn("rate", "GFLOP/s"), StudyColumn("residual (norm)"),
            StudyColumn("check")]  # fmt: skip
# A scaled residual below this limit passes, as in HPL.
_MAX_RESIDUAL = 16.0


def linpack_trials(measured: StudyRun, threads: int, sizes: Sequence[int]) -> StudyTable:
    """Return a table of LINPACK's single trials: time (s), rate (GFLOP/s), scaled residual and check.

    ``sizes`` are the numbers of unknowns, and ``threads`` is the number of threads of the run's experiments. There is
    one row for each trial that was measured or published; the table may have no rows. The residual is scaled as in HPL,
    and the check is "pass" if it is below 16, as in HPL, otherwise "FAIL". A value that the run or the study lacks is
    None.
    """
    printed = published_items(measured.plan, "linpack-trials")
    rows: dict[str, list[StudyCell]] = {}
    for n in sizes:
        params = {"n": n, "threads": threads}
        rates = series_values(measured.find("cpu_linpack", "rate", params))
        residuals = series_values(measured.find("cpu_linpack", "residual", params))
        most = max(len(rates), sum(name.startswith(f"n={n} trial=") and name.endswith("rate") for name in printed))
        for trial in range(most):
            here = (rates[trial], residuals[trial]) if trial < min(len(rates), len(residuals)) else None
            rows[f"{n:,}, trial {trial + 1}"] = _row(n, here, _printed(printed, n, trial + 1))
    return StudyTable(
        title=f"LINPACK, each trial, {threads} threads", corner="unknowns", rows=list(rows), columns=_COLUMNS,
        cells=list(rows.values()), has_ratio=False, notes=[_definition(measured, sizes)],
    )  # fmt: skip


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
    result = next((r for n in sizes if (r := measured.find("cpu_linpack", "rate", {"n": n})) and r.labels), None)
    blas = f" of {result.labels.get('blas', 'LAPACK')}" if result else ""
    return (
        f"Rate: (2/3 n³ + 3/2 n²) ÷ the time{blas}. Residual (norm): HPL's scaled residual, ‖Ax − b‖∞ ÷ "
        "(ε (‖A‖∞ ‖x‖∞ + ‖b‖∞) n). Intel's program divides by other norms, so only the orders of magnitude can be "
        "compared."
    )
