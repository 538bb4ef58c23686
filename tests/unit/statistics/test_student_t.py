"""Quantiles of Student's t, beside those of scipy."""

from __future__ import annotations

import pytest
from scipy.special import stdtrit

from nameplate.statistics.student_t import student_t


@pytest.mark.parametrize("probability", [0.6, 0.9, 0.975, 0.996, 0.999, 0.9999])
@pytest.mark.parametrize("degrees", [3, 3.7, 4, 4.5, 5, 6.3, 11, 40, 2000])
def test_the_quantile_of_students_t_is_that_of_scipy(degrees: float, probability: float) -> None:
    assert student_t(degrees, probability) == pytest.approx(stdtrit(degrees, probability), rel=1e-5)
