"""The leaderboard as it is shown: who has a rank, languages side by side, or each alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import duckdb
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES
from orchbench_analytics.profiles import REPORTED, Profile
from orchbench_analytics.selection import Contender, matching_names
from orchbench_analytics.views.catalog import frame_of

_MODEL = ("model", "experiment")
_UNRANKED = {
    "no_answers": "it answered nothing in {unanswered_language_count} of its {language_count} "
    "languages; the endpoint was dead, and a score of 0 would say nothing about the model",
    "incomplete": "it has {scenario_count:,} of {sweep_scenario_count:,} scenarios",
    "no_score": "none of its scenarios could be scored",
}
_FEW = 5
# What tags are put beside, and the column that a leaderboard by tag adds.
TAGGED_VIEWS = ("leaderboard", "scenario_scores")
_GROUP_SIZE = "model_count"
# What a rank rests on, which its status and the sentences of `left_unranked` tell.
_BEHIND = (
    *("sweep_scenario_count", "is_ranked", "file_count", "language_count"),
    *("sweep_language_count", "unanswered_language_count"),
)

_USUAL = {"coverage": 1, "rank_status": "ranked", "refused_file_count": 0}
# What a model would score had it answered all: of models that have, that is their score.
_EXPECTED = ("expected_score", "expected_low", "expected_high")


def leaderboard(
    ranks: pl.DataFrame, *, languages: Sequence[str] = (), min_coverage: float = 1.0
) -> pl.DataFrame:
    """Models by rank over all languages, or in each of some languages.

    ranks: the rows of the view `language_ranks` under a profile, of the models to be ranked.
    languages: names or patterns; each language is ranked alone. Without any, the rows are those of
        the view `leaderboard`.
    min_coverage: a model that has less of the sweep's scenarios is not ranked.

    Ranked models come first, then the others by their average; equals in the order of names.
    """
    if languages:
        known = sorted({*ranks["language"]} - {MEAN_OF_LANGUAGES})
        wanted = {name for given in languages for name in matching_names(given, known, "language")}
        board = ranks.filter(pl.col("language").is_in(wanted))
    else:
        board = ranks.filter(pl.col("language") == MEAN_OF_LANGUAGES)
    in_order = _ranked_from(board, min_coverage).sort(
        *("language", "rank_number", HEADLINE[0], *_MODEL),
        descending=[False, False, True, False, False],
        nulls_last=True,
    )
    return in_order if languages else in_order.drop("language")


def _ranked_from(board: pl.DataFrame, min_coverage: float) -> pl.DataFrame:
    """The board with ranks for all models of at least this coverage, not of full coverage alone.

    Such ranks compare means over different scenarios.
    """
    average = pl.col(HEADLINE[0])
    is_answered = pl.col("rank_status") != "no_answers"
    is_ranked = (pl.col("coverage") >= min_coverage) & average.is_not_null() & is_answered
    rank = pl.when(is_ranked).then(average).rank("min", descending=True).over("language")
    status = pl.when(is_ranked).then(pl.lit("ranked")).otherwise("rank_status")
    return board.with_columns(
        is_ranked=is_ranked, rank_number=rank.cast(pl.Int64), rank_status=status
    )


def tagged_models(connection: duckdb.DuckDBPyConnection, tag: str) -> pl.DataFrame:
    """Every model and experiment with its value of a tag."""
    tags = frame_of(connection.sql("select * from main.model_tags"))
    if tag not in tags.columns:
        known = ", ".join(name for name in tags.columns if name not in _MODEL)
        raise SelectionError(
            f"models have no tag {tag!r}, only {known or 'their names'}; see: orchbench tag"
        )
    scores = (connection.sql(f"from main.{view}").columns for view in TAGGED_VIEWS)
    if tag not in _MODEL and tag.lower() in {_GROUP_SIZE}.union(*scores):
        raise SelectionError(f"{tag!r} is a column of scores as well; name the tag otherwise")
    return tags.select("model", "experiment", tag)


def by_tag(board: pl.DataFrame, tagged: pl.DataFrame, tag: str) -> pl.DataFrame:
    """The mean of each headline metric over the models of each value of a tag.

    Languages that were chosen are told apart.
    """
    keys = [tag, *(name for name in ("language",) if name in board.columns)]
    return (
        board.join(tagged, on=_MODEL)
        .group_by(keys)
        .agg(
            pl.col(*HEADLINE).mean(),
            pl.col("coverage").min(),
            pl.len().alias("model_count"),
            pl.col("profile").first(),
        )
        .sort(HEADLINE[0], *keys, descending=[True, *(False for _ in keys)], nulls_last=True)
    )


def with_languages(
    board: pl.DataFrame, ranks: pl.DataFrame, metrics: Sequence[str] = HEADLINE[:1]
) -> pl.DataFrame:
    """The board with each metric in each language beside the means, such as `average_score_en`.

    ranks: the rows of the view `language_ranks` that the board was made from. A model of a single
        language has no other score than its mean.
    """
    of_languages = ranks.filter(pl.col("language") != MEAN_OF_LANGUAGES)
    languages = sorted(of_languages["language"].unique())
    if len(languages) < 2:
        return board
    beside: list[str] = []
    for metric in metrics:
        named = {language: f"{metric}_{language.lower()}" for language in languages}
        scores = of_languages.select(*_MODEL, "language", metric)
        pivoted = scores.pivot("language", on_columns=languages, index=_MODEL, values=metric)
        board = board.join(pivoted.rename(named), on=_MODEL, how="left", maintain_order="left")
        beside += named.values()
    place = board.columns.index(HEADLINE[-1]) + 1
    others = [name for name in board.columns if name not in beside]
    return board.select(*others[:place], *beside, *others[place:])


def short(board: pl.DataFrame) -> pl.DataFrame:
    """The board without the figures that its ranks rest on, and without what goes without saying.

    Coverage, status, refused files and estimates of the whole sweep tell nothing if every model has
    all of it.
    """
    is_whole = {
        name: bool((board[name] == usual).all())
        for name, usual in _USUAL.items()
        if name in board.columns
    }
    untold = [name for name, whole in is_whole.items() if whole]
    estimates = _EXPECTED if is_whole.get("coverage") else ()
    return board.drop(*_BEHIND, *untold, *estimates, strict=False)


def left_unranked(board: pl.DataFrame) -> list[str]:
    """A sentence for each model without a rank that says why."""
    return [
        f"{row['model']} / {row['experiment']} is not ranked"
        + (f" in {row['language']}: " if "language" in row else ": ")
        + _UNRANKED[row["rank_status"]].format(**row)
        for row in board.filter(~pl.col("is_ranked")).to_dicts()
    ]


def unfinished(board: pl.DataFrame) -> str | None:
    """A sentence if models lack scenarios of a sweep whose size is known: it is still running."""
    whole = (board["coverage"] >= 1).sum()
    if board.is_empty() or whole == board.height:
        return None
    total = board["sweep_scenario_count"][0]
    return (
        f"the sweep is not finished: {whole:,} of {board.height:,} models have all {total:,} "
        "scenarios, and figures of the others are provisional; for verdicts that hold while it "
        "runs: orchbench compare --sequential"
    )


def left_out(ranked: pl.DataFrame, models: Collection[Contender], profile: Profile) -> list[str]:
    """A sentence if a ranking leaves models out, with those it leaves out and why.

    ranked: has `model` and `experiment`.
    models: every model of the warehouse that has scenarios, with its experiment.
    """
    absent = sorted({*models} - {*ranked.select(_MODEL).iter_rows()})
    if not absent:
        return []
    names = [f"{model} / {experiment}" for model, experiment in absent]
    shown = ", ".join(names[:_FEW]) + (", …" if len(names) > _FEW else "")
    why = (
        "they have no result file of an evaluator; see them under another profile"
        if profile.scored_from == "results"
        else f"they have only result files, which --profile {REPORTED.name} shows"
    )
    count = "1 model is" if len(names) == 1 else f"{len(names):,} models are"
    return [f"{count} not shown under {profile.name} ({shown}): {why}"]
