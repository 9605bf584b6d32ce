"""What `orchbench show` lists: the scenarios of a model, the steps of a scenario, one step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.selection import matching_names

KEY = ("model", "experiment", "language", "scenario", "run", "step_id")
_SCORES = ("plan_similarity", "name_f1", "key_f1", "value_f1")
_RIGHT = ("true_positive_call_count", "true_positive_reject_count")
_LABELS = ("call_label_count", "rejection_label_count")
_DECIDED = pl.when(pl.col("left_out_reason").is_null()).then(
    pl.sum_horizontal(*_RIGHT).clip(upper_bound=1).cast(pl.Float64)
)


class StepKey(NamedTuple):
    """Which step of which run, and whether it is a plan or a decision."""

    model: str
    experiment: str
    language: str
    scenario: str
    run: str
    step_id: str
    kind: str

    @property
    def key(self) -> dict[str, str]:
        """The columns that tables know the step by."""
        return {name: getattr(self, name) for name in KEY}


def scenarios_of(scores: pl.DataFrame) -> pl.DataFrame:
    """The scenarios of a model, those with the poorest plans first."""
    return scores.select(
        "scenario",
        "language",
        decided_right=pl.format("{}/{}", pl.sum_horizontal(_RIGHT), pl.sum_horizontal(_LABELS)),
        **{name: pl.col(name) for name in _SCORES},
        run_count="run_count",
        profile="profile",
        model="model",
        experiment="experiment",
    ).sort("plan_similarity", "language", "scenario", nulls_last=True)


def steps_of(
    scored_steps: pl.LazyFrame, scored_plans: pl.LazyFrame, scenario: str, run: str | None
) -> pl.DataFrame:
    """The steps of a scenario in all runs: what was wanted, what was answered, and its score.

    A decision that needed no call, or was no call, scores 1 if it is right and 0 if it is wrong.
    """
    decisions = scored_steps.select(
        "profile",
        *KEY,
        kind=pl.lit("decision"),
        wanted="actual",
        answered="predicted",
        score=pl.coalesce(pl.mean_horizontal("name_f1", "key_f1", "value_f1"), _DECIDED),
        note=pl.coalesce("left_out_reason", "failure_reason"),
    )
    plans = scored_plans.select(
        "profile",
        *KEY,
        kind=pl.lit("plan"),
        wanted=_workflows("label"),
        answered=pl.when("is_failed").then(pl.lit("failed")).otherwise(_workflows("answer")),
        score="plan_similarity",
        note=pl.coalesce("left_out_reason", "read_as"),
    )
    both = pl.concat([decisions, plans])
    found = both.filter(pl.col("scenario") == scenario).collect()
    if found.is_empty():
        there = _in_order(both.select("scenario").unique().collect()["scenario"])
        named = matching_names(scenario, there, "scenario")
        found = both.filter(pl.col("scenario") == named[0]).collect()
    if run is not None:
        found = of_run(found, run)
    number = pl.col("step_id").str.extract(r"^(\d+)").cast(pl.Int64, strict=False)
    ordered = found.sort("experiment", "language", "run", number, "step_id", nulls_last=True)
    first = ("run", "step_id", "language", "kind", "score", "wanted", "answered", "note")
    return ordered.select(*first, pl.exclude(first))


def _workflows(side: str) -> pl.Expr:
    count = pl.col(f"{side}_workflow_count")
    plural = pl.when(count == 1).then(pl.lit("")).otherwise(pl.lit("s"))
    return pl.format("{} workflow{}", count, plural)


def _in_order(names: Iterable[str]) -> list[str]:
    """Names that are numbers by their size."""
    return sorted(names, key=lambda name: (len(name), name))


def of_run(found: pl.DataFrame, run: str) -> pl.DataFrame:
    """The rows of a run, by its name or number."""
    wanted = f"run #{run}" if run.isdecimal() else run
    chosen = found.filter(pl.col("run") == wanted)
    if chosen.is_empty():
        raise SelectionError(f"no run {run!r}; there are {', '.join(found['run'].unique().sort())}")
    return chosen


def named_steps(steps: pl.DataFrame, step: str) -> pl.DataFrame:
    """The steps of that id, in each run, language and experiment that has it."""
    found = steps.filter(pl.col("step_id") == step)
    if found.is_empty():
        there = ", ".join(_in_order(steps["step_id"].unique()))
        raise SelectionError(f"no step {step!r} in this scenario; there are {there}")
    return found


def step_keys(steps: pl.DataFrame) -> list[StepKey]:
    """What tables know the steps by."""
    return [StepKey(*row) for row in steps.select(*StepKey._fields).iter_rows()]
