"""The leaderboard for a screen, and the leaderboard of one language."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.outputs.choose import matching_names


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


def of_language(model_scores: pl.DataFrame, languages: Sequence[str]) -> pl.DataFrame:
    """Models by rank in each of some languages, each language ranked alone."""
    known = sorted(model_scores["language"].unique())
    wanted = {name for given in languages for name in matching_names(given, known, "language")}
    rank = pl.col(HEADLINE[0]).rank("min", descending=True).over("language")
    return (
        model_scores.filter(pl.col("language").is_in(wanted))
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
