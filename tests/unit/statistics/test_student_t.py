"""Quantiles of Student's t, compared with those of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from nameplate.statistics.student_t import student_t


@pytest.mark.parametrize("degrees", [*np.linspace(4, 8, 41).tolist(), 11.0, 40.0, 2000.0])
def test_the_quantile_of_students_t_is_that_of_scipy(degrees: float) -> None:
    probabilities = [*np.linspace(0.55, 0.999, 200).tolist(), 0.9999]
    expected = [float(stdtrit(degrees, probability)) for probability in probabilities]
    assert [student_t(degrees, probability) for probability in probabilities] == pytest.approx(expected, rel=1e-5)
