"""What `orchbench show` lists: the scenarios of a model, the steps of a scenario, one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.filter_rows import RowFilter, filter_rows, matching_names

KEY = ("model", "experiment", "language", "scenario", "run", "step_id")
_SCORES = ("plan_similarity", "name_f1", "key_f1", "value_f1")
_RIGHT = ("true_positive_call_count", "true_positive_reject_count")
_LABELS = ("call_label_count", "rejection_label_count")


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


def model_named(name: str, known: pl.Series) -> str:
    """The model of that name; if there is none, the error names the likely ones."""
    return matching_names(name, sorted(known.unique()), "model")[0]


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
    scored: Mapping[str, pl.LazyFrame], model: str, scenario: str, run: str | None
) -> pl.DataFrame:
    """The steps of a scenario in all runs: what was wanted, what was answered, and its score."""
    decisions = scored["steps"].select(
        "profile",
        *KEY,
        kind=pl.lit("decision"),
        wanted="actual",
        answered="predicted",
        score=pl.mean_horizontal("name_f1", "key_f1", "value_f1"),
        note=pl.coalesce("left_out_reason", "failure_reason"),
    )
    plans = scored["plans"].select(
        "profile",
        *KEY,
        kind=pl.lit("plan"),
        wanted=_workflows("label"),
        answered=pl.when("is_failed").then(pl.lit("failed")).otherwise(_workflows("answer")),
        score="plan_similarity",
        note=pl.coalesce("left_out_reason", "read_as"),
    )
    both = pl.concat([decisions, plans])
    found = both.filter(pl.col("model") == model, pl.col("scenario") == scenario).collect()
    if found.is_empty():
        _say_what_there_is(both, model, scenario)
    if run is not None:
        found = _of_run(found, run)
    number = pl.col("step_id").str.extract(r"^(\d+)").cast(pl.Int64, strict=False)
    ordered = found.sort("experiment", "language", "run", number, "step_id", nulls_last=True)
    first = ("run", "step_id", "language", "kind", "score", "wanted", "answered", "note")
    return ordered.select(*first, pl.exclude(first))


def _workflows(side: str) -> pl.Expr:
    count = pl.col(f"{side}_workflow_count")
    plural = pl.when(count == 1).then(pl.lit("")).otherwise(pl.lit("s"))
    return pl.format("{} workflow{}", count, plural)


def _say_what_there_is(both: pl.LazyFrame, model: str, scenario: str) -> None:
    known = both.select("model", "scenario").unique().collect()
    name = model_named(model, known["model"])
    there = _in_order(known.filter(model=name)["scenario"])
    matching_names(scenario, there, "scenario")
    raise SelectionError(f"no scenario {scenario!r} of {model!r}; did you mean model {name}?")


def _in_order(names: Iterable[str]) -> list[str]:
    """Names that are numbers by their size."""
    return sorted(names, key=lambda name: (len(name), name))


def _of_run(found: pl.DataFrame, run: str) -> pl.DataFrame:
    wanted = f"run #{run}" if run.isdecimal() else run
    chosen = found.filter(pl.col("run") == wanted)
    if chosen.is_empty():
        raise SelectionError(f"no run {run!r}; there are {', '.join(found['run'].unique().sort())}")
    return chosen


def find_step(
    scored: Mapping[str, pl.LazyFrame],
    model: str,
    scenario: str,
    step: str,
    *,
    run: str | None,
    language: Sequence[str] | None,
    experiment: Sequence[str] | None,
) -> list[StepKey]:
    """The step that was asked for, in each run, language and experiment that has it."""
    steps = steps_of(scored, model, scenario, run)
    steps = filter_rows(steps, RowFilter(languages=language or (), experiments=experiment or ()))
    found = steps.filter(pl.col("step_id") == step)
    if found.is_empty():
        there = ", ".join(_in_order(steps["step_id"].unique()))
        raise SelectionError(f"no step {step!r} in scenario {scenario}; there are {there}")
    return [StepKey(*row) for row in found.select(*StepKey._fields).iter_rows()]
