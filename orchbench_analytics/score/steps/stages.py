"""Scoring steps, stage by stage: the first tuple once for all profiles, the second under each."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import SPEC, Profile
from orchbench_analytics.score.steps.arguments import PAIR, compare_arguments, compare_names
from orchbench_analytics.score.steps.decide import decide
from orchbench_analytics.score.steps.judge import apply_verdicts, cut_off_runs, read_verdicts
from orchbench_analytics.score.steps.observe import (
    NO_CALLS_ID,
    RUN_COLUMNS,
    ReadCalls,
    step_facts,
)
from orchbench_analytics.score.steps.read_calls import reading_of
from orchbench_analytics.score.steps.schemas import mark_judgeable
from orchbench_analytics.score.steps.totals import ScoredSteps, total
from orchbench_analytics.tables import STEP_KEY

_NOTHING = pl.DataFrame()


class StepWork(NamedTuple):
    """Steps on their way from the flat tables to their scores; each stage fills in its own."""

    steps: pl.DataFrame
    judgements: pl.DataFrame
    tool_parameters: pl.DataFrame
    profile: Profile = SPEC
    facts: pl.DataFrame = _NOTHING
    read: ReadCalls = ReadCalls(_NOTHING, _NOTHING, _NOTHING)
    names: pl.DataFrame = _NOTHING
    arguments: pl.DataFrame = _NOTHING
    verdicts: pl.DataFrame = _NOTHING
    scored: ScoredSteps = ScoredSteps(_NOTHING, _NOTHING)


def observe(work: StepWork) -> StepWork:
    """Read every distinct content and call; what holds of steps under any profile."""
    facts, read = step_facts(work.steps)
    return work._replace(facts=facts, read=read)


def compare(work: StepWork) -> StepWork:
    """Compare names and arguments of every distinct pair that any profile may ask for."""
    used = pl.concat_list("answer_id", "written_id", NO_CALLS_ID)
    pairs = (
        work.facts.filter("is_call_labelled")
        .select("language", "label_id", used_id=used)
        .explode("used_id")
        .drop_nulls()
        .unique()
    )
    # Joins keep no order unless told to; from here on they are, so that scores come out in one.
    arguments = compare_arguments(pairs, work.read).sort("argument_key")
    return work._replace(names=compare_names(pairs, work.read), arguments=arguments)


def consult_judge(work: StepWork) -> StepWork:
    """Mark the keys that may go to the judge, and read what the judge said."""
    arguments = mark_judgeable(work.arguments, work.read, work.tool_parameters)
    facts = work.facts.join(
        cut_off_runs(work.judgements), on=RUN_COLUMNS, how="left", maintain_order="left"
    )
    return work._replace(facts=facts, arguments=arguments, verdicts=read_verdicts(work.judgements))


def decide_each(work: StepWork) -> StepWork:
    """Decide what each step is: a call, a rejection or a failure, and what that counts as."""
    return work._replace(facts=decide(work.facts, work.profile))


def weigh_arguments(work: StepWork) -> StepWork:
    """Give each call-scored step its argument keys, with the judge's verdicts applied."""
    keys = [column.name for column in STEP_KEY]
    steps = work.facts.filter("is_call_scored").select(
        "row", *keys, "answer_position", "judge_index", "label_id", "used_id"
    )
    compared = _as_read(work.arguments, work.profile)
    arguments = steps.join(compared, on=PAIR, maintain_order="left_right")
    named = arguments.with_columns(profile=pl.lit(work.profile.name))
    return work._replace(arguments=apply_verdicts(named, work.verdicts, work.profile))


def add_up(work: StepWork) -> StepWork:
    """Add up names, keys and values of each step, and form their F1."""
    names = _as_read(work.names, work.profile).drop("reading")
    return work._replace(scored=total(work.facts, names, work.arguments, work.profile))


SHARED_STAGES = (observe, compare, consult_judge)
PROFILE_STAGES = (decide_each, weigh_arguments, add_up)


def prepare_steps(
    steps: pl.DataFrame, judgements: pl.DataFrame, tool_parameters: pl.DataFrame
) -> StepWork:
    """Everything about steps that no profile changes."""
    work = StepWork(steps, judgements, tool_parameters)
    return reduce(lambda done, stage: stage(done), SHARED_STAGES, work)


def score_steps(prepared: StepWork, profile: Profile) -> ScoredSteps:
    """Prepared steps under a profile."""
    work = prepared._replace(profile=profile)
    return reduce(lambda done, stage: stage(done), PROFILE_STAGES, work).scored


def _as_read(compared: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    reading = pl.col("reading")
    return compared.filter(reading.is_null() | (reading == reading_of(profile)))
