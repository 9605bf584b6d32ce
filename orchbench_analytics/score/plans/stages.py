"""Scoring plans, stage by stage: the first tuple once for all profiles, the second under each.

Between the two stands the GED step, `measure_graphs`: an engine gives it each distinct pair of
graphs once, whatever models and runs it comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import SPEC, Profile
from orchbench_analytics.score.plans.draw import draw_plans, drawing_rules
from orchbench_analytics.score.plans.ged import GraphPair, measure_pairs
from orchbench_analytics.score.plans.merge import drawn_for, graph_pairs, measured_frame, merge
from orchbench_analytics.score.plans.totals import ScoredPlans, total

_NOTHING = pl.DataFrame()


class PlanWork(NamedTuple):
    """Plans on their way from the flat table to their scores; each stage fills in its own."""

    plans: pl.DataFrame
    profiles: Sequence[Profile] = ()
    texts: pl.DataFrame = _NOTHING
    pairs: pl.DataFrame = _NOTHING
    measured: pl.DataFrame = _NOTHING
    profile: Profile = SPEC
    merged: pl.DataFrame = _NOTHING
    scored: ScoredPlans = ScoredPlans(_NOTHING, _NOTHING, _NOTHING)


def draw_texts(work: PlanWork) -> PlanWork:
    """Read every distinct text and draw its two graphs, under the rules of each profile."""
    all_rules = tuple(sorted({drawing_rules(profile) for profile in work.profiles}))
    plans, texts = draw_plans(work.plans, all_rules)
    return work._replace(plans=plans, texts=texts)


def pair_graphs(work: PlanWork) -> PlanWork:
    """Pair the graphs of answers and labels, each distinct pair once."""
    pairs = (graph_pairs(drawn_for(work.plans, work.texts, p)) for p in work.profiles)
    return work._replace(pairs=pl.concat(pairs).unique())


def measure_graphs(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs of graphs with the distance of each, its edits and its matches."""
    return measured_frame(measure_pairs([GraphPair(*row) for row in pairs.iter_rows()]))


def merge_distances(work: PlanWork) -> PlanWork:
    """Join the distances back to the plans they belong to."""
    drawn = drawn_for(work.plans, work.texts, work.profile)
    return work._replace(merged=merge(drawn, work.measured))


def add_up(work: PlanWork) -> PlanWork:
    """Choose the entry that answers each label, and score it."""
    return work._replace(scored=total(work.merged, work.profile))


SHARED_STAGES = (draw_texts, pair_graphs)
PROFILE_STAGES = (merge_distances, add_up)


def prepare_plans(plans: pl.DataFrame, profiles: Sequence[Profile]) -> PlanWork:
    """Everything about plans up to the pairs of graphs that are to be measured."""
    return reduce(lambda done, stage: stage(done), SHARED_STAGES, PlanWork(plans, profiles))


def score_plans(measured: PlanWork, profile: Profile) -> ScoredPlans:
    """Prepared plans whose pairs of graphs were measured, under a profile."""
    work = measured._replace(profile=profile)
    return reduce(lambda done, stage: stage(done), PROFILE_STAGES, work).scored
