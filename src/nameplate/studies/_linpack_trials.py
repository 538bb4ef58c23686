"""LINPACK's table of single trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.result import Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.studies._cells import study_cell
from nameplate.studies._measured import StudyRun, series_values
from nameplate.studies.published import Printed, published_items

_COLUMNS = [StudyColumn("LDA, align"), StudyColumn("time", "s"), StudyColumn("rate", "GFLOP/s"),
            StudyColumn("residual"), StudyColumn("residual (norm)"), StudyColumn("check")]  # fmt: skip
# A residual scaled as in HPL that is below this limit passes, as in HPL.
_MAX_RESIDUAL = 16.0
_RESIDUALS = ("unscaled_residual", "intel_residual", "residual")


def linpack_trials(measured: StudyRun, threads: int, sizes: Sequence[int]) -> StudyTable:
    """Return a table of LINPACK's single trials: array, time (s), rate (GFLOP/s), residuals and check.

    ``sizes`` are the numbers of unknowns, and ``threads`` is the number of threads of the run's experiments. There is
    one row for each trial that was measured or published; the table may have no rows. The residual is the largest |Ax −
    b|, and residual (norm) scales it as Intel's LINPACK does. The check is "pass" if HPL's scaled residual is below 16,
    as in HPL, otherwise "FAIL". A value that the run or the study lacks is None: runs of earlier versions have HPL's
    residual only.
    """
    printed = published_items(measured.plan, "linpack-trials")
    rows: dict[str, list[StudyCell]] = {}
    for n in sizes:
        params = {"n": n, "threads": threads}
        rate = measured.find("cpu_linpack", "rate", params)
        residuals = [series_values(measured.find("cpu_linpack", name, params)) for name in _RESIDUALS]
        n_printed = sum(name.startswith(f"n={n} trial=") and name.endswith("rate") for name in printed)
        for trial in range(max(len(series_values(rate)), n_printed)):
            here = [values[trial] if trial < len(values) else None for values in residuals]
            rows[f"{n:,}, {trial + 1}"] = _row(rate, here, n, trial, printed)
    return StudyTable(
        title=f"LINPACK, each trial, {threads} threads", corner="n, trial", rows=list(rows), columns=_COLUMNS,
        cells=list(rows.values()), has_ratio=False, notes=[_definition(measured, sizes)],
    )  # fmt: skip


def _row(
    result: Result | None, residuals: Sequence[float | None], n: int, trial: int, printed: Mapping[str, Printed]
) -> list[StudyCell]:  # fmt: skip
    name = f"n={n} trial={trial + 1}"
    rates = series_values(result)
    rate = rates[trial] if trial < len(rates) else None
    params = result.summary.params if result and rate else {}
    is_printed = f"{name} rate" in printed
    hpl = residuals[2]
    check = None if rate is None or hpl is None else "pass" if hpl < _MAX_RESIDUAL else "FAIL"
    time_s = (2 / 3 * n**3 + 3 / 2 * n**2) / rate if rate else None
    return [
        study_cell(f"{params['lda']}, {params['align']}" if params else None),
        study_cell(time_s, printed.get(f"{name} time")),
        study_cell(rate / 1e9 if rate else None, printed.get(f"{name} rate")),
        study_cell(residuals[0], printed.get(f"n={n} residual") if is_printed else None),
        study_cell(residuals[1], printed.get(f"n={n} residual (norm)") if is_printed else None),
        study_cell(check, "pass" if is_printed else None),
    ]  # fmt: skip


def _definition(measured: StudyRun, sizes: Sequence[int]) -> str:
    result = next((r for n in sizes if (r := measured.find("cpu_linpack", "rate", {"n": n})) and r.labels), None)
    blas = f" of {result.labels.get('blas', 'LAPACK')}" if result else ""
    return (
        f"Rate: (2/3 n³ + 3/2 n²) ÷ the time{blas}. Residual: the largest |Ax − b|, which depends on the random "
        "matrix. Residual (norm), as Intel's program scales it: ÷ (ε ‖A‖∞ ‖x‖∞ n) with ε = 2⁻⁵³, by which the "
        "document's two columns differ. The check is HPL's: the residual ÷ (ε (‖A‖∞ ‖x‖∞ + ‖b‖∞) n) is below 16."
    )
