"""Scenario scores: what each scenario adds to a metric, to first order.

For a mean they are the scenario's score / n, for F1s and other ratios the linearised form of it.
They add up to the metric, so whatever holds for means of scenarios can be done with any metric.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orchbench_analytics.stats.evaluate import Array, Sums, evaluate, influence, support


def scenario_additions(name: str, parts: Sums, supported: npt.NDArray[np.bool_]) -> Array:
    """What each supported scenario (last axis) adds to the metric; NaN where it is undefined."""
    value = evaluate([name], {part: values.sum(axis=-1) for part, values in parts.items()})[name]
    count = np.maximum(supported.sum(axis=-1), 1)
    return np.where(supported, (value / count)[..., None], 0.0) + influence(name, parts)


def supported_by_any(name: str, parts: Sums) -> npt.NDArray[np.bool_]:
    """The scenarios that say something on the metric for any contender, for all of them."""
    supported = support(name, parts)
    return np.broadcast_to(supported.any(axis=0), supported.shape)
