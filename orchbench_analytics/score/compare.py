"""Comparing calls: names, keys and values of every distinct pair of label and answer, once."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.score.facts import ReadCalls

PAIR = ("language", "label_id", "used_id")


def f1(true_positives: pl.Expr, false_positives: pl.Expr, false_negatives: pl.Expr) -> pl.Expr:
    """2 TP / (2 TP + FP + FN), 0 to 1; 0 where there is nothing to count."""
    counted = 2 * true_positives + false_positives + false_negatives
    return pl.when(counted > 0).then(2 * true_positives / counted).otherwise(0.0)


def set_f1(side: str) -> pl.Expr:
    """F1 of two sets from their counts; two empty sets agree fully."""
    counts = [
        pl.col(f"{side}_{c}_count") for c in ("true_positive", "false_positive", "false_negative")
    ]
    return pl.when(pl.sum_horizontal(counts) == 0).then(1.0).otherwise(f1(*counts))


def compare_names(pairs: pl.DataFrame, read: ReadCalls) -> pl.DataFrame:
    """Counts of tool names for each pair: on both sides, in the answer only, in the label only."""
    names = read.calls.select("calls_id", "names")
    both = pairs.join(names, left_on="label_id", right_on="calls_id", how="left").join(
        names, left_on="used_id", right_on="calls_id", how="left", suffix="_used"
    )
    label, used = pl.col("names"), pl.col("names_used")
    return both.select(
        *PAIR,
        name_true_positive_count=used.list.set_intersection(label).list.len().cast(pl.Int64),
        name_false_positive_count=used.list.set_difference(label).list.len().cast(pl.Int64),
        name_false_negative_count=label.list.set_difference(used).list.len().cast(pl.Int64),
    )


def compare_arguments(pairs: pl.DataFrame, read: ReadCalls) -> pl.DataFrame:
    """One row per argument key of each pair: values on both sides, TP, FP, FN by comparison.

    A key's values are a set where both sides have the key; a key that one side has alone counts
    once for each call that has it.
    """
    label = pairs.join(read.arguments, left_on="label_id", right_on="calls_id")
    used = pairs.join(read.arguments, left_on="used_id", right_on="calls_id")
    joined = label.join(used, on=[*PAIR, "argument_key"], how="full", coalesce=True, suffix="_used")
    wanted, given = pl.col("values"), pl.col("values_used")
    is_shared = wanted.is_not_null() & given.is_not_null()

    def counted(shared: pl.Expr, alone: str | None) -> pl.Expr:
        one_sided = pl.col(alone).fill_null(0) if alone else pl.lit(0, dtype=pl.Int64)
        return pl.when(is_shared).then(shared.list.len().cast(pl.Int64)).otherwise(one_sided)

    return joined.select(
        *PAIR,
        "argument_key",
        is_shared=is_shared,
        is_error=pl.col("is_error_used").fill_null(False),
        answer_texts=given,
        label_texts=wanted,
        label_values="values_json",
        answer_values="values_json_used",
        true_positive_count=counted(given.list.set_intersection(wanted), None),
        false_positive_count=counted(given.list.set_difference(wanted), "one_sided_count_used"),
        false_negative_count=counted(wanted.list.set_difference(given), "one_sided_count"),
    )
