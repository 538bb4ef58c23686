"""The constants that several methods share, so that compare, history and nodes call the same thing a change."""

from __future__ import annotations

# For a normal distribution: standard deviation / median absolute deviation, 1 / Φ⁻¹(3/4).
MAD_TO_SD = 1.4826

# For a normal distribution: standard error of a median / that of a mean.
MEDIAN_TO_MEAN_ERROR = 1.2533

# The share of false findings among all findings that is accepted (Benjamini and Hochberg 1995).
FALSE_DISCOVERY_RATE = 0.01

# A smaller change is not reported, however certain it is. A series has a lower limit, since it has hundreds of samples.
MIN_CHANGE = 0.03

# A change must be at least this multiple of the variation of the value between rounds, or between runs.
MIN_MOVES_OF_SPREAD = 2.5
