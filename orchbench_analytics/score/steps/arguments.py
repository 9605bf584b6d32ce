"""Comparing calls: names, keys and values of every distinct pair of label and answer, once."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.profiles import rule_choices
from orchbench_analytics.score.steps.observe import ReadCalls

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
    once for each call that has it. A pair with arguments that are no JSON is compared under each
    choice of the rule `invalid_arguments`, named in `only_under`.
    """
    ruled = _under_each_rule(pairs, read)
    label, used = (_arguments_of(ruled, read, side) for side in ("label_id", "used_id"))
    joined = label.join(
        used,
        on=[*PAIR, "only_under", "argument_key"],
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
        "only_under",
        "argument_key",
        is_shared=is_shared,
        answer_texts=given,
        label_values="values_json",
        answer_values="values_json_used",
        true_positive_count=counted(given.list.set_intersection(wanted), None),
        false_positive_count=counted(given.list.set_difference(wanted), "one_sided_count_used"),
        false_negative_count=counted(wanted.list.set_difference(given), "one_sided_count"),
    )


def _under_each_rule(pairs: pl.DataFrame, read: ReadCalls) -> pl.DataFrame:
    """Pairs with `only_under`: null, or both choices in turn where a side has invalid arguments."""
    invalid = read.calls.filter("has_invalid_arguments")["calls_id"].implode()
    is_invalid = pl.col("label_id").is_in(invalid) | pl.col("used_id").is_in(invalid)
    choices = pl.DataFrame({"only_under": rule_choices()["invalid_arguments"]})
    return pl.concat(
        [
            pairs.filter(~is_invalid).with_columns(only_under=pl.lit(None, dtype=pl.String)),
            pairs.filter(is_invalid).join(choices, how="cross"),
        ]
    )


def _arguments_of(ruled: pl.DataFrame, read: ReadCalls, side: str) -> pl.DataFrame:
    """The arguments of one side of each pair that count under the pair's rule."""
    return (
        ruled.join(read.arguments, left_on=side, right_on="calls_id", suffix="_of_key")
        .filter(
            pl.col("only_under_of_key").is_null()
            | (pl.col("only_under_of_key") == pl.col("only_under"))
        )
        .drop("only_under_of_key")
    )
