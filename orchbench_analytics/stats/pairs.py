"""Two contenders over the scenarios that both have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import Array, Sums, evaluate, support
from orchbench_analytics.stats.counts import Contender, Counts, LanguageCounts, find_contender

Indices = npt.NDArray[np.int64]


class PairParts(NamedTuple):
    """The parts of baselines and candidates, pair by scenario; 0 where a scenario is not common."""

    baseline: dict[str, Array]
    candidate: dict[str, Array]


def pair_up(language: LanguageCounts, baseline: Indices, candidate: Indices) -> PairParts:
    """Baselines beside candidates, cut down to common scenarios."""
    common = language.present[baseline] & language.present[candidate]
    if common.all():
        return PairParts(
            {part: values[baseline] for part, values in language.parts.items()},
            {part: values[candidate] for part, values in language.parts.items()},
        )
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


def pair_support(name: str, pair: PairParts) -> Array:
    """How many scenarios of each pair say anything on the metric."""
    either = support(name, pair.baseline) | support(name, pair.candidate)
    count: Array = either.sum(axis=1).astype(np.float64)
    return count


def common_counts(counts: Counts, baseline: str | Contender, candidate: str | Contender) -> Counts:
    """The two contenders alone, over the scenarios that both have."""
    places = [find_contender(counts.contenders, name) for name in (baseline, candidate)]
    if places[0] == places[1]:
        both = "/".join(counts.contenders[places[0]])
        raise SelectionError(f"{both} would be compared with itself; choose two")
    languages = []
    for language in counts.languages:
        common = language.present[places].all(axis=0)
        if common.any():
            languages.append(
                LanguageCounts(
                    language.language,
                    tuple(np.array(language.scenarios)[common].tolist()),
                    language.present[places][:, common],
                    {part: values[places][:, common] for part, values in language.parts.items()},
                )
            )
    if not languages:
        names = " and ".join("/".join(counts.contenders[place]) for place in places)
        raise SelectionError(f"{names} have no scenario in common")
    return Counts(
        counts.profile, tuple(counts.contenders[place] for place in places), tuple(languages)
    )
