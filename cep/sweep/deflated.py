"""How much of the best Sharpe ratio of many trials is luck.

Bailey and Lopez de Prado, The Deflated Sharpe Ratio, Journal of Portfolio Management 40 (2014).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

EULER = 0.5772156649015329
NORMAL = NormalDist()


def expected_best(variance: float, trials: int) -> float:
    """The Sharpe ratio that the best of so many trials without skill is expected to have, whose
    ratios vary so much.
    """
    if trials < 2 or variance <= 0.0:
        return 0.0
    first = NORMAL.inv_cdf(1.0 - 1.0 / trials)
    second = NORMAL.inv_cdf(1.0 - 1.0 / (trials * math.e))
    return math.sqrt(variance) * ((1.0 - EULER) * first + EULER * second)


def deflated(returns: NDArray[np.float64], sharpes: Sequence[float], trials: int) -> float | None:
    """The probability that the best is more than luck: that its true ratio is above what the best
    of all trials would have by chance.

    `returns` are those of the best, of trades or of times; `sharpes` the ratios of all trials that
    have one, by the same returns. None where there is too little to tell.
    """
    count = len(returns)
    spread = float(returns.std(ddof=1)) if count > 2 else 0.0
    if not spread or len(sharpes) < 2:
        return None
    ratio = float(returns.mean()) / spread
    apart = (returns - returns.mean()) / float(returns.std())
    skewness, kurtosis = float((apart**3).mean()), float((apart**4).mean())
    within = 1.0 - skewness * ratio + (kurtosis - 1.0) / 4.0 * ratio * ratio
    if within <= 0.0:
        return None
    luck = expected_best(float(np.var(sharpes, ddof=1)), trials)
    return NORMAL.cdf((ratio - luck) * math.sqrt(count - 1) / math.sqrt(within))
