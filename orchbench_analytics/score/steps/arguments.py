"""Comparing calls: names, keys and values of every distinct pair of label and answer, once.

A tool's schema may settle a key, and then no judge is asked about it.
"""

from __future__ import annotations

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.steps.observe import NO_CALLS_ID, READINGS, ReadCalls, reading_of
from orchbench_analytics.score.steps.patterns import fit_patterns
from orchbench_analytics.tables import UNKNOWN_LANGUAGE

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


def pairs_of(facts: pl.DataFrame) -> pl.DataFrame:
    """The distinct pairs of a label and the calls that some profile may count as its answer."""
    used = pl.concat_list("answer_id", "written_id", NO_CALLS_ID)
    return (
        facts.filter("is_call_labelled")
        .select("language", "label_id", used_id=used)
        .explode("used_id")
        .drop_nulls()
        .unique()
    )


def as_read(compared: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """What was compared, as the profile reads calls that have a defect."""
    reading = pl.col("reading")
    return compared.filter(reading.is_null() | (reading == reading_of(profile))).drop("reading")


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


_NEVER_JUDGED_TYPES = ("number", "boolean", "array", "object")
_KNOWN_TYPES = (*_NEVER_JUDGED_TYPES, "string", "integer")
_INTEGER = r"^\s*[+-]?\d(?:_?\d)*\s*$"  # what Python's int() takes …
_MOST_DIGITS = 4_300  # … and how much of it
_COMPARED_KEY = (*PAIR, "reading", "argument_key")


def mark_judgeable(
    compared: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """Add `is_judgeable`: values unmatched on both sides, and the tool's schema settles nothing.

    Add also `has_unknown_type`: such a key has a type that JSON Schema does not have; and
    `is_pattern_unchecked`: its pattern could not be tried in bounded time, and settles nothing.
    """
    is_open = (
        pl.col("is_shared")
        & (pl.col("false_positive_count") > 0)
        & (pl.col("false_negative_count") > 0)
    )
    checked = _checked(compared.filter(is_open), read, tool_parameters)
    return (
        compared.join(
            checked, on=_COMPARED_KEY, how="left", nulls_equal=True, maintain_order="left"
        )
        .with_columns(
            pl.col("has_unknown_type", "is_pattern_unchecked").fill_null(False),
            is_judgeable=is_open & ~pl.col("is_settled").fill_null(False),
        )
        .drop("is_settled", "unmatched_texts")
    )


def _checked(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The keys among `open_keys` that a called tool has: is the key settled, its type unknown."""
    is_enum_settled = pl.col("has_enum") & (
        pl.col("false_positive_count") == pl.col("false_negative_count")
    )
    is_type_settled = pl.col("value_type").is_in(_NEVER_JUDGED_TYPES).fill_null(False)
    known = open_keys.join(
        _schemas(open_keys, read, tool_parameters), on=["language", "used_id", "argument_key"]
    ).with_columns(is_settled=is_type_settled | is_enum_settled)
    texts = known.filter(~pl.col("is_settled")).select(
        *_COMPARED_KEY, "value_type", "pattern", text="unmatched_texts"
    )
    fits = (
        _fits(texts.explode("text"))
        .group_by(_COMPARED_KEY)
        .agg(is_misfit=(~pl.col("fits")).any(), has_unchecked=pl.col("fits").is_null().any())
    )
    return (
        known.join(fits, on=_COMPARED_KEY, how="left", nulls_equal=True)
        .with_columns(pl.col("is_misfit", "has_unchecked").fill_null(False))
        .select(
            *_COMPARED_KEY,
            is_settled=pl.col("is_settled") | pl.col("is_misfit"),
            has_unknown_type=~pl.col("value_type").is_in(_KNOWN_TYPES).fill_null(True),
            is_pattern_unchecked=pl.col("has_unchecked") & ~pl.col("is_misfit"),
        )
    )


def _schemas(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The schema of each key of each answer, from the called tools in order.

    The type is that of the first tool that gives the key one, so is the pattern; an enum may be
    that of any.
    """
    answers = open_keys.select("language", calls_id="used_id").unique()
    cards = _cards_of(answers["language"].unique(), tool_parameters)
    names = read.names.unique("calls_id", keep="last", maintain_order=True)
    return (
        answers.join(names.select("calls_id", "names"), on="calls_id")
        .with_columns(name_order=pl.int_ranges(pl.col("names").list.len()))
        .explode("names", "name_order")
        .join(cards, left_on=["language", "names"], right_on=["language", "tool"])
        .sort("name_order", "is_of_another", "tool_order")
        .group_by("language", "argument_key", used_id="calls_id", maintain_order=True)
        .agg(
            pl.col("value_type", "pattern").drop_nulls().first(),
            pl.col("has_enum").any(),
        )
    )


def _cards_of(languages: pl.Series, tool_parameters: pl.DataFrame) -> pl.DataFrame:
    """The parameters for each language: a card of an unknown language is for all of them.

    Where the language of the answers is unknown, all cards are.
    """
    card, answers = pl.col("card_language"), pl.col("language")
    return (
        tool_parameters.rename({"language": "card_language"})
        .join(languages.to_frame(), how="cross")
        .filter((card == answers) | (card == UNKNOWN_LANGUAGE) | (answers == UNKNOWN_LANGUAGE))
        .with_columns(is_of_another=card != answers)
    )


def _fits(texts: pl.DataFrame) -> pl.DataFrame:
    """Add `fits`: the text is of the type and matches the pattern; null where none can tell.

    A doubled backslash in a pattern counts as one, as cards often have it.
    """
    text, pattern = pl.col("text"), pl.col("pattern")
    is_integer = text.str.contains(_INTEGER) & (text.str.count_matches(r"\d") <= _MOST_DIGITS)
    is_typed = (pl.col("value_type") != "integer").fill_null(True) | is_integer
    texts = texts.with_columns(pattern.str.replace_all("\\\\", "\\", literal=True))
    asked = texts.filter(is_typed & pattern.is_not_null())
    matched = fit_patterns(asked).rename({"fits": "is_matching"})
    return texts.join(matched, on=["pattern", "text"], how="left").with_columns(
        fits=is_typed & (pattern.is_null() | pl.col("is_matching"))
    )
