"""Two contenders over the scenarios that both have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.counts import (
    Contender,
    Counts,
    LanguageCounts,
    find_contender,
    in_common,
)
from orchbench_analytics.stats.evaluate import Array, Sums, evaluate

Indices = npt.NDArray[np.int64]


class PairParts(NamedTuple):
    """The parts of baselines and candidates, pair by scenario; 0 where a scenario is not common."""

    baseline: dict[str, Array]
    candidate: dict[str, Array]


def pair_up(language: LanguageCounts, baseline: Indices, candidate: Indices) -> PairParts:
    """Baselines beside candidates, cut down to common scenarios."""
    common = language.present[baseline] & language.present[candidate]
    return PairParts(
        {part: values[baseline] * common for part, values in language.parts.items()},
        {part: values[candidate] * common for part, values in language.parts.items()},
    )


def differences(
    names: Sequence[str], baseline_sums: Sums, candidate_sums: Sums
) -> dict[str, Array]:
    """Candidate - baseline of each metric: above 0 the candidate is better."""
    baseline, candidate = evaluate(names, baseline_sums), evaluate(names, candidate_sums)
    return {name: candidate[name] - baseline[name] for name in names}


def common_counts(counts: Counts, baseline: str | Contender, candidate: str | Contender) -> Counts:
    """The two contenders alone, over the scenarios that both have."""
    places = [find_contender(counts.contenders, name) for name in (baseline, candidate)]
    if places[0] == places[1]:
        both = "/".join(counts.contenders[places[0]])
        raise SelectionError(f"{both} would be compared with itself; choose two")
    shared = (in_common(language, np.array(places)) for language in counts.languages)
    languages = tuple(language for language in shared if language.scenarios)
    if not languages:
        names = " and ".join("/".join(counts.contenders[place]) for place in places)
        raise SelectionError(f"{names} have no scenario in common")
    return Counts(counts.profile, tuple(counts.contenders[place] for place in places), languages)
