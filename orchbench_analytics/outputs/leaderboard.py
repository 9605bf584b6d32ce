"""The leaderboard as it is shown: in order, languages side by side, or of one language."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.outputs.filter_rows import matching_names
from orchbench_analytics.profiles import REPORTED, Profile

_MODEL = ("model", "experiment")
_UNRANKED = {
    "no_answers": "it answered nothing in {unanswered_language_count} of its {language_count} "
    "languages; the endpoint was dead, and a score of 0 would say nothing about the model",
    "incomplete": "it has {scenario_count:,} of {sweep_scenario_count:,} scenarios",
    "no_score": "nothing of it could be scored",
}
_FEW = 5
_COVERAGE = ("scenario_count", "sweep_scenario_count", "coverage", "refused_file_count")


def in_order(board: pl.DataFrame) -> pl.DataFrame:
    """Ranked models first, then the others by their average; equals in the order of names."""
    by_score = board.sort(
        HEADLINE[0], *_MODEL, descending=[True, False, False], nulls_last=True, maintain_order=True
    )
    return by_score.sort("rank_number", nulls_last=True, maintain_order=True)


def ranked_from(board: pl.DataFrame, min_coverage: float) -> pl.DataFrame:
    """The board with ranks for all models of at least this coverage, not of full coverage alone.

    Such ranks compare means over different scenarios.
    """
    average = pl.col(HEADLINE[0])
    is_answered = pl.col("rank_status") != "no_answers"
    is_ranked = (pl.col("coverage") >= min_coverage) & average.is_not_null() & is_answered
    rank = pl.when(is_ranked).then(average).rank("min", descending=True).cast(pl.Int64)
    status = pl.when(is_ranked).then(pl.lit("ranked")).otherwise("rank_status")
    return board.with_columns(is_ranked=is_ranked, rank_number=rank, rank_status=status)


def by_tag(board: pl.DataFrame, tagged: pl.DataFrame, tag: str) -> pl.DataFrame:
    """The mean of each headline metric over the models of each value of a tag."""
    return (
        board.join(tagged, on=_MODEL)
        .group_by(tag)
        .agg(pl.col(*HEADLINE).mean(), pl.col("coverage").min(), pl.len().alias("model_count"))
        .sort(HEADLINE[0], descending=True, nulls_last=True)
    )


def with_languages(
    board: pl.DataFrame, model_scores: pl.DataFrame, metrics: Sequence[str]
) -> pl.DataFrame:
    """Each metric in each language as a column, such as `average_score_en`, beside the mean."""
    for metric in metrics:
        scores = model_scores.select(*_MODEL, "language", metric).sort("language")
        pivoted = scores.pivot("language", index=_MODEL, values=metric)
        named = pivoted.rename(
            {language: f"{metric}_{language.lower()}" for language in _languages(scores)}
        )
        board = board.join(named, on=_MODEL, how="left", maintain_order="left")
    return board


def main_columns(board: pl.DataFrame, model_scores: pl.DataFrame) -> pl.DataFrame:
    """What is worth reading first: the headline metrics, the average by language, coverage."""
    average, *others = HEADLINE
    languages = _languages(model_scores)
    shown = (
        [f"{average}_{language.lower()}" for language in languages] if len(languages) > 1 else []
    )
    wide = with_languages(board, model_scores, [average])
    return wide.select(
        "rank_number", *_MODEL, average, *shown, *others, *_COVERAGE, "rank_status", "profile"
    )


def for_screen(main: pl.DataFrame) -> pl.DataFrame:
    """The means of languages first, then each language; coverage as `46/92`."""
    average, *others = HEADLINE
    languages = [name for name in main.columns if name.startswith(f"{average}_")]
    scenarios = pl.format("{}/{}", "scenario_count", "sweep_scenario_count").alias("scenarios")
    return main.select(
        "rank_number",
        "model",
        average,
        *others,
        *languages,
        scenarios,
        "refused_file_count",
        "profile",
        "experiment",
    )


def of_language(
    model_scores: pl.DataFrame, languages: Sequence[str], *, problems: pl.DataFrame
) -> pl.DataFrame:
    """Models by rank in each of some languages, each language ranked alone.

    `problems` has the rows of `model_problems`: a model without any answer there has no rank.
    """
    known = _languages(model_scores)
    wanted = {name for given in languages for name in matching_names(given, known, "language")}
    is_answered = ~pl.col("is_unanswered").fill_null(value=False)
    rank = pl.when(is_answered).then(HEADLINE[0]).rank("min", descending=True).over("language")
    unanswered = problems.select(*_MODEL, "language", "is_unanswered")
    return (
        model_scores.filter(pl.col("language").is_in(wanted))
        .join(unanswered, on=(*_MODEL, "language"), how="left")
        .select(
            rank.cast(pl.Int64).alias("rank_number"),
            "model",
            "experiment",
            "language",
            *HEADLINE,
            "profile",
        )
        .sort("language", "rank_number", "model", "experiment", nulls_last=True)
    )


def left_unranked(board: pl.DataFrame) -> list[str]:
    """A sentence for each model without a rank that says why."""
    return [
        f"{row['model']} / {row['experiment']} is not ranked: "
        + _UNRANKED[row["rank_status"]].format(**row)
        for row in board.filter(~pl.col("is_ranked")).to_dicts()
    ]


def left_out(ranked: pl.DataFrame, models: pl.DataFrame, profile: Profile) -> list[str]:
    """A sentence if a ranking leaves models out, with those it leaves out and why.

    ranked: has `model` and `experiment`.
    models: every model of the warehouse, as `Warehouse.models` has them.
    """
    absent = models.select(_MODEL).unique().join(ranked, on=_MODEL, how="anti").sort(_MODEL)
    if absent.is_empty():
        return []
    names = [f"{model} / {experiment}" for model, experiment in absent.iter_rows()]
    shown = ", ".join(names[:_FEW]) + (", …" if len(names) > _FEW else "")
    why = (
        "no result file of an evaluator is there; other profiles have the answers"
        if profile.scored_from == "results"
        else f"only result files are there, which --profile {REPORTED.name} shows"
    )
    count = "1 model is" if len(names) == 1 else f"{len(names):,} models are"
    return [f"{count} not shown under {profile.name} ({shown}): {why}"]


def _languages(model_scores: pl.DataFrame) -> list[str]:
    return sorted(model_scores["language"].unique())
