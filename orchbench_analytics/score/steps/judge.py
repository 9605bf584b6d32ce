"""The judge: which of its verdicts are used, and what they replace."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.steps.observe import RUN_COLUMNS
from orchbench_analytics.score.values import decode_json, texts_of
from orchbench_analytics.texts import compact_json

_VERDICT_KEY = (*RUN_COLUMNS, "judge_index", "argument_key")
_COUNTS = ("true_positive_count", "false_positive_count", "false_negative_count")


def read_verdicts(judgements: pl.DataFrame) -> pl.DataFrame:
    """Verdicts by step and key, with the values they are about as they are compared.

    They have counts, or are such that the public evaluator gives up on their call.
    """
    exact = pl.col("exact_counts").str.json_decode(pl.List(pl.Float64))
    verdicts = judgements.filter(pl.col("is_usable") | pl.col("is_unsound"))
    values = {
        given: _compared_values(given)
        for column in ("answer_values", "label_values")
        for given in verdicts[column].drop_nulls().unique()
    }

    def compared(column: str) -> pl.Expr:
        return pl.col(column).replace_strict(values, default=None, return_dtype=pl.String)

    return (
        verdicts.rename({"call_index": "judge_index"})
        .select(
            *_VERDICT_KEY,
            "is_unsound",
            "is_bare_reasoning",
            judged_answer=compared("answer_values"),
            judged_label=compared("label_values"),
            **{
                f"verdict_{name}": pl.coalesce(exact.list.get(n), pl.col(name).cast(pl.Float64))
                for n, name in enumerate(_COUNTS)
            },
        )
        .unique(_VERDICT_KEY, keep="first", maintain_order=True)
    )


def cut_off_runs(judgements: pl.DataFrame) -> pl.DataFrame:
    """The runs whose judge's log ends in the middle, marked with `has_cut_off_log`."""
    runs = judgements.filter(pl.col("unusable_reason") == "cut_off").select(RUN_COLUMNS).unique()
    return runs.with_columns(has_cut_off_log=pl.lit(True))


def apply_verdicts(
    arguments: pl.DataFrame, verdicts: pl.DataFrame, profile: Profile
) -> pl.DataFrame:
    """Replace counts of judgeable keys by verdicts, as the profile says; add `decided_by`.

    Counts are floats from here on: a judge's may be fractions. Add also `is_void`: the key's
    verdict makes the whole call's values score 0.
    """
    if profile.judge_reasoning == "choices_only":
        verdicts = verdicts.filter(~pl.col("is_bare_reasoning"))
    judged = arguments.join(verdicts, on=_VERDICT_KEY, how="left", maintain_order="left")
    has_verdict = pl.col("is_judgeable") & pl.col("verdict_true_positive_count").is_not_null()
    if profile.verdict_match == "verified":
        has_verdict &= (pl.col("judged_answer") == pl.col("answer_values")) & (
            pl.col("judged_label") == pl.col("label_values")
        )
    has_verdict = has_verdict.fill_null(False)
    is_void = pl.lit(False)
    if profile.unsound_verdict == "zero":
        is_void = (pl.col("is_judgeable") & pl.col("is_unsound")).fill_null(False)
    verdict = {name: pl.col(f"verdict_{name}") for name in _COUNTS}
    compared = {name: pl.col(name).cast(pl.Float64) for name in _COUNTS}
    if profile.verdict == "replaces_unmatched":
        verdict["true_positive_count"] += compared["true_positive_count"]
    else:
        hits = compared["true_positive_count"]
        compared["true_positive_count"] = pl.when("is_judgeable").then(0.0).otherwise(hits)
    return judged.with_columns(
        is_void=is_void,
        decided_by=pl.when(has_verdict).then(pl.lit("judge")).otherwise(pl.lit("compared")),
        **{
            name: pl.when(has_verdict).then(verdict[name]).otherwise(compared[name])
            for name in _COUNTS
        },
    )


def _compared_values(given: str) -> str:
    """A JSON list of values as the JSON list of their comparable texts."""
    try:
        return compact_json(texts_of(decode_json(given)))
    except ValueError:  # nested too deep
        return compact_json([])
