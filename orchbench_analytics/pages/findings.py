"""Three sentences that the first screen says of a sweep, worked out from its tables."""

from __future__ import annotations

from typing import Any

import polars as pl

from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES
from orchbench_analytics.outputs.screen import named_contenders
from orchbench_analytics.pages.source import Source
from orchbench_analytics.pages.words import ERROR_PATTERNS

_FEW = 3
_LOSSES = """
select
    profile, error_pattern, cast(sum(occurrence_count) as bigint) as occurrence_count,
    share(
        sum(occurrence_count), sum(sum(occurrence_count)) over (partition by profile)
    ) as part
from main.error_patterns
group by profile, error_pattern
order by occurrence_count desc, error_pattern
"""
_GAPS = """
select profile, model, experiment, language, other_language, language_gap
from main.language_gaps
where metric = 'average_score' and language_gap is not null
order by abs(language_gap) desc, model, experiment
"""


def findings(source: Source, board: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The sentences of each profile: a text, and the path and choices of the view behind it."""
    found = source.queries({"error_patterns": _LOSSES, "language_gaps": _GAPS}, is_pooled=True)
    ranked = board.filter(pl.col("rank_number").is_not_null(), language=MEAN_OF_LANGUAGES)
    said = {
        profile: (
            leader(ranked.filter(profile=profile)),
            _commonest_loss(found["error_patterns"].filter(profile=profile)),
            _widest_gap(found["language_gaps"].filter(profile=profile)),
        )
        for profile in source.profiles
    }
    return {
        profile: [text for text in texts if text is not None] for profile, texts in said.items()
    }


def leader(ranked: pl.DataFrame) -> dict[str, Any] | None:
    """Who leads, and whom the scenarios cannot tell from it."""
    if ranked.height < 2:
        return None
    first = ranked.row(0, named=True)
    score = f"{100 * first[HEADLINE[0]]:.1f}"
    names = named_contenders(ranked)["model"]
    best, beside = names[0], names.filter(ranked["tier_number"] == first["tier_number"])[1:]
    if first["rank_number"] > 1:  # a tier is told by its best model, which is not in this report
        text = f"{best} leads these models with {score}; its rank in the warehouse is "
        text += f"{first['rank_number']}."
    elif beside.is_empty():
        text = f"{best} leads with {score}, and all others are worse beyond chance."
    else:
        more = f" and {len(beside) - _FEW:,} more" if len(beside) > _FEW else ""
        named = ", ".join(beside[:_FEW]) + more
        text = f"{best} leads with {score} and cannot be told apart from {named}."
    second = ranked.row(1, named=True)
    pair = [str(row[name]) for row in (first, second) for name in ("model", "experiment")]
    return {"text": text, "path": ["compare", *pair], "choices": {}}


def _commonest_loss(losses: pl.DataFrame) -> dict[str, Any] | None:
    """The pattern that most wrong decisions have."""
    if losses.is_empty() or not losses["occurrence_count"][0]:
        return None
    _, pattern, count, part = losses.row(0)
    text = f"The most frequent wrong decision: {ERROR_PATTERNS[pattern]}, {count:,} steps"
    return {
        "text": f"{text} ({100 * part:.0f} % of wrong decisions).",
        "path": ["decisions"],
        "choices": {},
    }


def _widest_gap(gaps: pl.DataFrame) -> dict[str, Any] | None:
    """The model with the largest gap between two languages."""
    if gaps.is_empty() or not gaps["language_gap"][0]:
        return None
    row, model = gaps.row(0, named=True), named_contenders(gaps)["model"][0]
    better, worse = row["other_language"], row["language"]
    if row["language_gap"] < 0:
        better, worse = worse, better
    size = f"{100 * abs(row['language_gap']):.1f}"
    return {
        "text": f"The largest gap between languages: {model} scores {size} points less in "
        f"{worse} than in {better}.",
        "path": ["model", row["model"], row["experiment"]],
        "choices": {},
    }
