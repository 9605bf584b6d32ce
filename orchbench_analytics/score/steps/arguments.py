"""Comparing calls: names, keys and values of every distinct pair of label and answer, once."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.score.steps.observe import ReadCalls
from orchbench_analytics.score.steps.read_calls import READINGS

PAIR = ("language", "label_id", "used_id")


def f1(true_positives: pl.Expr, false_positives: pl.Expr, false_negatives: pl.Expr) -> pl.Expr:
    """2 P R / (P + R) of precision and recall, 0 to 1; each 0 where nothing stands below.

    It is formed from P and R, as the last digit of a mean can hang on the last bit of it.
    """
    precision = _share(true_positives, true_positives + false_positives)
    recall = _share(true_positives, true_positives + false_negatives)
    return _share(2 * precision * recall, precision + recall)


def _share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(whole > 0).then(part / whole).otherwise(0.0)


def set_f1(side: str) -> pl.Expr:
    """F1 of two sets from their counts; two empty sets agree fully."""
    counts = [
        pl.col(f"{side}_{c}_count") for c in ("true_positive", "false_positive", "false_negative")
    ]
    return pl.when(pl.sum_horizontal(counts) == 0).then(1.0).otherwise(f1(*counts))


def compare_names(pairs: pl.DataFrame, read: ReadCalls) -> pl.DataFrame:
    """Counts of tool names for each pair: on both sides, in the answer only, in the label only."""
    ruled = _under_each_reading(pairs, read)
    both = _side_of(ruled, read.names, "label_id").join(
        _side_of(ruled, read.names, "used_id"),
        on=[*PAIR, "reading"],
        nulls_equal=True,
        suffix="_used",
    )
    label, used = pl.col("names"), pl.col("names_used")
    return both.select(
        *PAIR,
        "reading",
        name_true_positive_count=used.list.set_intersection(label).list.len().cast(pl.Int64),
        name_false_positive_count=used.list.set_difference(label).list.len().cast(pl.Int64),
        name_false_negative_count=label.list.set_difference(used).list.len().cast(pl.Int64),
    )


def compare_arguments(pairs: pl.DataFrame, read: ReadCalls) -> pl.DataFrame:
    """One row per argument key of each pair: values on both sides, TP, FP, FN by comparison.

    A key's values are a set where both sides have the key; a key that one side has alone counts
    once for each call that has it. A pair that profiles read differently is compared under each
    reading.
    """
    ruled = _under_each_reading(pairs, read)
    label, used = (_side_of(ruled, read.arguments, side) for side in ("label_id", "used_id"))
    joined = label.join(
        used,
        on=[*PAIR, "reading", "argument_key"],
        how="full",
        coalesce=True,
        nulls_equal=True,
        suffix="_used",
    )
    wanted, given = pl.col("values"), pl.col("values_used")
    is_shared = wanted.is_not_null() & given.is_not_null()

    def counted(shared: pl.Expr, alone: str | None) -> pl.Expr:
        one_sided = pl.col(alone).fill_null(0) if alone else pl.lit(0, dtype=pl.Int64)
        return pl.when(is_shared).then(shared.list.len().cast(pl.Int64)).otherwise(one_sided)

    return joined.select(
        *PAIR,
        "reading",
        "argument_key",
        is_shared=is_shared,
        unmatched_texts=given.list.set_difference(wanted),
        label_values="values_json",
        answer_values="values_json_used",
        true_positive_count=counted(given.list.set_intersection(wanted), None),
        false_positive_count=counted(given.list.set_difference(wanted), "one_sided_count_used"),
        false_negative_count=counted(wanted.list.set_difference(given), "one_sided_count"),
    )


def _under_each_reading(pairs: pl.DataFrame, read: ReadCalls) -> pl.DataFrame:
    """Pairs with `reading`: null, or each in turn where profiles read a side differently."""
    various = read.names.filter(pl.col("reading").is_not_null())["calls_id"].unique().implode()
    is_various = pl.col("label_id").is_in(various) | pl.col("used_id").is_in(various)
    return pl.concat(
        [
            pairs.filter(~is_various).with_columns(reading=pl.lit(None, dtype=pl.String)),
            pairs.filter(is_various).join(pl.DataFrame({"reading": READINGS}), how="cross"),
        ]
    )


def _side_of(ruled: pl.DataFrame, rows: pl.DataFrame, side: str) -> pl.DataFrame:
    """What one side of each pair has under the pair's reading."""
    return (
        ruled.join(rows, left_on=side, right_on="calls_id", suffix="_of_side")
        .filter(
            pl.col("reading_of_side").is_null() | (pl.col("reading_of_side") == pl.col("reading"))
        )
        .drop("reading_of_side")
    )
