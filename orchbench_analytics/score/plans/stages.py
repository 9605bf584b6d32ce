"""Scoring plans, in order: draw, pair, measure, merge, add up.

`prepare_plans` does what profiles have in common, each distinct text and each distinct pair of
graphs once; `score_plans` does the rest under one profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.draw import draw_plans, drawing_rules
from orchbench_analytics.score.plans.ged import GraphPair, measure_pairs
from orchbench_analytics.score.plans.merge import drawn_for, graph_pairs, measured_frame, merge
from orchbench_analytics.score.plans.totals import ScoredPlans, total


class PreparedPlans(NamedTuple):
    """Plans, what was drawn of each distinct text, and the distance of each pair of graphs."""

    plans: pl.DataFrame
    texts: pl.DataFrame
    measured: pl.DataFrame


def prepare_plans(plans: pl.DataFrame, profiles: Sequence[Profile]) -> PreparedPlans:
    """Draw the graphs of every distinct text under the rules of each profile, and measure them."""
    rules = tuple(sorted({drawing_rules(profile) for profile in profiles}))
    plans, texts = draw_plans(plans, rules)
    pairs = pl.concat(graph_pairs(drawn_for(plans, texts, p)) for p in profiles).unique()
    measured = measure_pairs([GraphPair(*row) for row in pairs.iter_rows()])
    return PreparedPlans(plans, texts, measured_frame(measured))


def score_plans(prepared: PreparedPlans, profile: Profile) -> ScoredPlans:
    """Prepared plans under a profile: distances joined back, the entry that counts, its scores."""
    drawn = drawn_for(prepared.plans, prepared.texts, profile)
    merged = merge(drawn, prepared.measured)
    return total(merged, profile)
