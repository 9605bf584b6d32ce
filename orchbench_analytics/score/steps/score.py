"""Scoring steps: what each answer is, how it compares with its label, and what that counts as.

`prepare_steps` does what no profile changes: it reads every distinct answer, compares names and
arguments of every distinct pair of label and answer, and reads the judge's verdicts. `score_steps`
decides under a profile what was wanted and what was answered, applies verdicts, and adds up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.steps.calls import (
    NO_CALLS,
    READINGS,
    REJECTION_TYPES,
    ReadCalls,
    calls_in_text,
    read_distinct_calls,
    reading_of,
)
from orchbench_analytics.score.steps.patterns import fit_patterns
from orchbench_analytics.tables import (
    RUN_KEY,
    SCENARIO_KEY,
    SCORED_ARGUMENTS,
    SCORED_STEPS,
    STEP_KEY,
    UNKNOWN_LANGUAGE,
)
from orchbench_analytics.texts import compact_json, decode_json, join_parts, read_parts, texts_of

RUN_COLUMNS = tuple(column.name for column in RUN_KEY)
PAIR = ("language", "label_id", "used_id")
NO_CALLS_ID = pl.lit(0, dtype=pl.UInt32)
_SCENARIO = tuple(column.name for column in SCENARIO_KEY)

_FACTS = (
    "row", *(column.name for column in STEP_KEY), "step_key", "has_label", "label_agent_id",
    "label_id", "label_tools", "label_type", "is_call_labelled", "has_gold_call",
    "is_unusable_label", "run_position", "is_answered", "answer_position", "answer_number",
    "answer_agent_id", "answer_id", "answer_tools", "answer_call_count", "answer_rejection_key",
    "answer_has_list_name", "answer_is_malformed", "voids_file", "text_kind", "is_in_parts",
    "marker_after_thinking", "marker_anywhere", "marker_part", "written_id", "written_tools",
    "written_is_malformed", "judge_index",
)  # fmt: skip
_VOID_CONTENTS = ("null", "number", "boolean")  # where there is no call either
_VOID_STEPS = ("absent", "list", "object", "no_object")
_NEVER_JUDGED_TYPES = ("number", "boolean", "array", "object")
_KNOWN_TYPES = (*_NEVER_JUDGED_TYPES, "string", "integer")
_INTEGER = r"^\s*[+-]?\d(?:_?\d)*\s*$"  # what Python's int() takes …
_MOST_DIGITS = 4_300  # … and how much of it
_COMPARED_KEY = (*PAIR, "reading", "argument_key")
_VERDICT_KEY = (*RUN_COLUMNS, "judge_index", "argument_key")
_CALL = pl.lit("call")
_OUTCOMES = ("true_positive_count", "false_positive_count", "false_negative_count")
_CALL_COUNTS = [f"{side}_{name}" for side in ("name", "key", "value") for name in _OUTCOMES]
_LARGEST_COUNT = 10**9  # of a verdict, in tables: sums over any number of rows stay integers


class PreparedSteps(NamedTuple):
    """What no profile changes: facts about steps, compared names and arguments, and verdicts."""

    facts: pl.DataFrame
    names: pl.DataFrame
    arguments: pl.DataFrame
    verdicts: pl.DataFrame


def prepare_steps(
    steps: pl.DataFrame, judgements: pl.DataFrame, tool_parameters: pl.DataFrame
) -> PreparedSteps:
    """Read every distinct answer, and compare every pair that any profile may ask for."""
    facts, read = step_facts(steps)
    pairs = pairs_of(facts)
    names = compare_names(pairs, read)
    # Joins keep no order unless told to; from here on they are, so that scores come out in one.
    compared = compare_arguments(pairs, read).sort("argument_key")
    arguments = mark_judgeable(compared, read, tool_parameters)
    cut_off = cut_off_runs(judgements)
    facts = facts.join(cut_off, on=RUN_COLUMNS, how="left", maintain_order="left")
    return PreparedSteps(facts, names, arguments, read_verdicts(judgements))


class ScoredSteps(NamedTuple):
    """Rows of `scored_steps` and `scored_arguments`."""

    steps: pl.DataFrame
    arguments: pl.DataFrame


def score_steps(prepared: PreparedSteps, profile: Profile) -> ScoredSteps:
    """Prepared steps under a profile: decided, judged, and added up."""
    decided = decide(prepared.facts, profile)
    compared = arguments_of(decided, as_read(prepared.arguments, profile), profile)
    judged = apply_verdicts(compared, prepared.verdicts, profile)
    return total_steps(decided, as_read(prepared.names, profile), judged, profile)


class StepFacts(NamedTuple):
    """What holds of steps under any profile, and the calls they refer to."""

    steps: pl.DataFrame
    read: ReadCalls


def step_facts(steps: pl.DataFrame) -> StepFacts:
    """For each step: ids of its calls, rejection markers, defects, its place in the judge's log.

    The texts themselves are left behind: from here on, ids stand for them.
    """
    steps = read_contents(steps.with_row_index("row"))
    texts = pl.concat(
        [
            pl.Series([NO_CALLS]),
            *(
                steps[name].drop_nulls()
                for name in ("label_calls", "answer_calls", "written_calls")
            ),
        ]
    ).unique(maintain_order=True)
    read = read_distinct_calls(texts)
    facts = (
        steps.lazy()
        .with_columns(is_call_labelled=_is_list("label_calls"))
        .with_columns(pl.col("label_calls", "answer_calls").fill_null(NO_CALLS))
        .join(_side(read.calls, "label"), on="label_calls", how="left", maintain_order="left")
        .join(_side(read.calls, "answer"), on="answer_calls", how="left", maintain_order="left")
        .join(_side(read.calls, "written"), on="written_calls", how="left", maintain_order="left")
        .with_columns(
            after_thinking=pl.col("answer_text").str.replace(r"(?s)^.*</think>", ""),
            is_answered=pl.col("answer_position").is_not_null(),
            has_gold_call=pl.col("label_call_count") > 0,
        )
        .with_columns(
            label_type=_marker("label_content"),
            marker_after_thinking=_marker("after_thinking"),
            marker_anywhere=_marker("answer_text"),
            text_kind=_text_kind(),
            is_in_parts=pl.col("content_kind").is_in(["list", "object"]).fill_null(False),
            is_unusable_label=(pl.col("has_call_key") & ~pl.col("has_gold_call"))
            | pl.col("label_has_placeholder"),
            voids_file=_voids_file(),
        )
        .with_columns(judge_index=_judge_index())
        .select(_FACTS)
        .collect(engine="in-memory")
    )
    return StepFacts(facts, read)


def read_contents(steps: pl.DataFrame) -> pl.DataFrame:
    """Add each answer's text, the calls written in it, and the marker that is one of its parts.

    Each distinct content is read once. A list is read as its text parts joined; an object, a number
    or a boolean is not a text.
    """
    kind, content = pl.col("content_kind"), pl.col("answer_content")
    texts = steps.join(
        _read_parts(steps), on="row", how="left", maintain_order="left"
    ).with_columns(answer_text=pl.when(kind == "text").then(content).otherwise("joined_text"))
    written = _calls_written_as_text(texts["answer_text"])
    return texts.join(written, on="answer_text", how="left", maintain_order="left")


def _read_parts(steps: pl.DataFrame) -> pl.DataFrame:
    """For each list or object: its joined text, and the rejection type among its parts."""
    given = steps.filter(pl.col("content_kind").is_in(["list", "object"]))
    read = {content: _parts_read(content) for content in given["answer_content"].unique()}
    parts = [read[content] for content in given["answer_content"]]
    return given.select(
        "row",
        joined_text=pl.Series([text for text, _ in parts], dtype=pl.String),
        marker_part=pl.Series([marker for _, marker in parts], dtype=pl.String),
    )


def _parts_read(content: str) -> tuple[str | None, str | None]:
    parts = read_parts(content)
    marker = next((marker for marker in REJECTION_TYPES if marker in parts), None)
    return join_parts(parts), marker


def _calls_written_as_text(texts: pl.Series) -> pl.DataFrame:
    """For each distinct text that may hold a call: the call it is, if it is one."""
    distinct = texts.drop_nulls().unique(maintain_order=True)
    candidates = distinct.filter(distinct.str.contains("{", literal=True))
    written = [calls_in_text(text) for text in candidates]
    return pl.DataFrame(
        {"answer_text": candidates, "written_calls": pl.Series(written, dtype=pl.String)}
    ).drop_nulls()


def _side(calls: pl.DataFrame, side: str) -> pl.LazyFrame:
    """The calls' columns, named for the side of the step they are joined to."""
    return (
        calls.lazy()
        .rename({name: f"{side}_{name}" for name in calls.columns})
        .rename({f"{side}_calls_text": f"{side}_calls", f"{side}_calls_id": f"{side}_id"})
    )


def _marker(column: str) -> pl.Expr:
    """The first rejection type that the text names; null if none."""
    return pl.coalesce(
        pl.when(pl.col(column).str.contains(kind, literal=True)).then(pl.lit(kind))
        for kind in REJECTION_TYPES
    )


def _text_kind() -> pl.Expr:
    """What the text after thinking is, where it is not a call: empty, malformed, or text."""
    text = pl.col("after_thinking")
    is_empty = text.is_null() | (text.str.strip_chars() == "")
    is_strange = pl.col("content_kind").is_in(["number", "boolean", "object"])
    is_malformed = text.str.contains("{", literal=True) | is_strange
    kind = pl.when(is_empty).then(pl.lit("empty")).otherwise(pl.lit("text"))
    return pl.when(is_malformed).then(pl.lit("malformed")).otherwise(kind)


def _is_list(column: str) -> pl.Expr:
    return pl.col(column).str.starts_with("[").fill_null(False)


def _voids_file() -> pl.Expr:
    """The answer, or the lack of a history, at which the public evaluator gives up on the file."""
    says_nothing = (pl.col("answer_call_count") == 0) & pl.col("content_kind").is_in(_VOID_CONTENTS)
    is_void = pl.col("answer_voids_file") | says_nothing | pl.col("step_kind").is_in(_VOID_STEPS)
    has_no_history = pl.col("step_kind").str.starts_with("history_")
    return pl.when("is_answered").then(is_void).otherwise(has_no_history).fill_null(False)


def _judge_index() -> pl.Expr:
    """The place of a call among those the judge's log numbers: labelled calls not rejected.

    The log was written by the public evaluator, so its rules of what is a rejection apply here,
    whatever the profile.
    """
    marker = pl.when("is_in_parts").then("marker_part").otherwise("marker_anywhere")
    is_rejected = pl.col("answer_rejection_key").is_not_null() | (
        (pl.col("answer_call_count") == 0) & marker.is_not_null()
    )
    is_numbered = pl.col("is_call_labelled") & pl.col("is_answered") & ~is_rejected
    place = is_numbered.cum_sum().over(RUN_COLUMNS, order_by="answer_position") - 1
    return pl.when(is_numbered).then(place.cast(pl.Int64))


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


def cut_off_runs(judgements: pl.DataFrame) -> pl.DataFrame:
    """The runs whose judge's log ends in the middle, marked with `has_cut_off_log`."""
    runs = judgements.filter(pl.col("unusable_reason") == "cut_off").select(RUN_COLUMNS).unique()
    return runs.with_columns(has_cut_off_log=pl.lit(True))


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
                for n, name in enumerate(_OUTCOMES)
            },
        )
        .unique(_VERDICT_KEY, keep="first", maintain_order=True)
    )


def _compared_values(given: str) -> str:
    """A JSON list of values as the JSON list of their comparable texts."""
    try:
        return compact_json(texts_of(decode_json(given)))
    except ValueError:  # nested too deep
        return compact_json([])


def decide(steps: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """Add the decision columns of `scored_steps` to steps that have their facts."""
    return (
        steps.lazy()
        .with_columns(left_out_reason=_left_out_reason(profile), actual=_actual(profile))
        .with_columns(is_scored=pl.col("left_out_reason").is_null(), predicted=_predicted(profile))
        .with_columns(
            failure_reason=_failure_reason(),
            call_source=_call_source(profile),
            is_type_mismatch=_is_type_mismatch(profile),
        )
        .with_columns(
            used_id=_used_calls(profile),
            **_confusion_counts(profile),
            is_call_scored=_is_call_scored(profile),
        )
        .collect(engine="in-memory")
    )


def _left_out_reason(profile: Profile) -> pl.Expr:
    cases = []
    if profile.malformed_answer == "voids_file":
        cases.append((pl.col("voids_file").any().over(_SCENARIO), pl.lit("void_file")))
    cases.append((~pl.col("has_label") & ~pl.col("is_answered"), pl.lit("no_history")))
    if profile.scored_unit == "labelled_step":
        cases.append((~pl.col("has_label"), pl.lit("unlabelled_answer")))
        cases.append((pl.col("answer_number") > 1, pl.lit("surplus_answer")))
    else:
        cases.append((~pl.col("is_answered"), pl.lit("unanswered_step")))
    if profile.unusable_label == "left_out":
        cases.append((pl.col("is_unusable_label"), pl.lit("unusable_label")))
    return _first_case(cases)


def _actual(profile: Profile) -> pl.Expr:
    is_call = "is_call_labelled" if profile.empty_gold_calls == "call" else "has_gold_call"
    return pl.when(is_call).then(_CALL).otherwise(pl.col("label_type").fill_null("rejection"))


def _predicted(profile: Profile) -> pl.Expr:
    rejection_key = pl.col("answer_rejection_key")
    marker = pl.col(f"marker_{profile.rejection_marker}")
    if profile.content_parts == "whole_parts":
        marker = pl.when("is_in_parts").then("marker_part").otherwise(marker)
    is_marked = (pl.col("answer_call_count") == 0) & marker.is_not_null()
    cases = []
    if profile.rejection_argument == "rejects":
        cases.append((rejection_key.is_not_null(), rejection_key))
    cases.append((_has_calls(profile), _CALL))
    cases.append((is_marked, marker))
    if profile.call_in_text == "recovered":
        cases.append((pl.col("written_tools").is_not_null(), _CALL))
    if profile.silence == "call":
        cases.append((pl.col("is_answered"), _CALL))
    cases.append((pl.lit(True), pl.lit("failed")))
    return _first_case(cases)


def _has_calls(profile: Profile) -> pl.Expr:
    if profile.nameless_call == "call":
        return pl.col("answer_call_count") > 0
    return pl.col("answer_tools").is_not_null()


def _failure_reason() -> pl.Expr:
    reason = _first_case(
        [
            (~pl.col("is_answered"), pl.lit("missing")),
            (pl.col("answer_call_count") > 0, pl.lit("malformed")),
            (pl.lit(True), pl.col("text_kind")),
        ]
    )
    return pl.when(pl.col("predicted") == "failed").then(reason)


def _call_source(profile: Profile) -> pl.Expr:
    source = _first_case(
        [
            (_has_calls(profile), pl.lit("tool_calls")),
            (pl.col("written_tools").is_not_null(), pl.lit("content")),
        ]
    )
    return pl.when(pl.col("predicted") == "call").then(source)


def _used_calls(profile: Profile) -> pl.Expr:
    """The id of the calls that count as the answer's: its own, those it wrote as text, or none."""
    used = pl.col("answer_id")
    if profile.call_in_text == "recovered":
        is_written = pl.col("call_source") == "content"
        used = pl.when(is_written).then(pl.col("written_id")).otherwise(used)
    return pl.when(pl.col("predicted") == "call").then(used).otherwise(NO_CALLS_ID)


def _first_case(cases: list[tuple[pl.Expr, pl.Expr]]) -> pl.Expr:
    """The value of the first case whose condition holds; null if none does."""
    return pl.coalesce(pl.when(condition).then(value) for condition, value in cases)


def _is_rejection(column: str) -> pl.Expr:
    return ~pl.col(column).is_in(["call", "failed"])


def _is_type_mismatch(profile: Profile) -> pl.Expr:
    differs = pl.col("predicted") != pl.col("actual")
    if profile.untyped_rejection == "matches_any_type":
        differs &= pl.col("actual") != "rejection"
    is_mismatch = _is_rejection("actual") & _is_rejection("predicted") & differs
    return is_mismatch & pl.col("is_scored")


def _confusion_counts(profile: Profile) -> dict[str, pl.Expr]:
    """The seed's table, in both perspectives; 0 in rows that are left out."""
    wants_call, calls = pl.col("actual") == "call", pl.col("predicted") == "call"
    rejects = _is_rejection("predicted")
    fails = pl.col("predicted") == "failed"
    missed = calls | fails if profile.failed_rejection == "false_negative" else calls
    outcomes = {
        "true_positive_reject_count": ~wants_call & rejects,
        "true_negative_reject_count": wants_call & calls,
        "false_positive_reject_count": wants_call & rejects,
        "false_negative_reject_count": ~wants_call & missed,
        "true_positive_call_count": wants_call & calls,
        "true_negative_call_count": ~wants_call & ~calls,
        "false_positive_call_count": ~wants_call & calls,
        "false_negative_call_count": wants_call & ~calls,
        "failed_generation_count": fails,
    }
    return {
        name: (outcome & pl.col("is_scored")).cast(pl.Int64) for name, outcome in outcomes.items()
    }


def _is_call_scored(profile: Profile) -> pl.Expr:
    counts = pl.col("is_scored") & (pl.col("actual") == "call")
    return counts if profile.rejected_call == "zero" else counts & ~_is_rejection("predicted")


def as_read(compared: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """What was compared, as the profile reads calls that have a defect."""
    reading = pl.col("reading")
    return compared.filter(reading.is_null() | (reading == reading_of(profile))).drop("reading")


def arguments_of(decided: pl.DataFrame, compared: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """The compared argument keys of each call-scored step, in the order of the steps."""
    keys = [column.name for column in STEP_KEY]
    steps = decided.filter("is_call_scored").select(
        "row", *keys, "answer_position", "step_key", "judge_index", "label_id", "used_id"
    )
    arguments = steps.join(compared, on=PAIR, maintain_order="left_right")
    return arguments.with_columns(profile=pl.lit(profile.name))


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
    verdict = {name: pl.col(f"verdict_{name}") for name in _OUTCOMES}
    compared = {name: pl.col(name).cast(pl.Float64) for name in _OUTCOMES}
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
            for name in _OUTCOMES
        },
    )


def total_steps(
    decided: pl.DataFrame, names: pl.DataFrame, arguments: pl.DataFrame, profile: Profile
) -> ScoredSteps:
    """Counts and F1 of decided steps, from their compared names and weighed arguments."""
    is_written = pl.col("call_source") == "content"
    scored = (
        decided.lazy()
        .join(names.lazy(), on=PAIR, how="left", maintain_order="left")
        .join(_totals(arguments).lazy(), on="row", how="left", maintain_order="left")
        .with_columns(
            pl.when("is_call_scored")
            .then(pl.col(_CALL_COUNTS))
            .otherwise(0)
            .fill_null(0)
            .name.keep()
        )
        .with_columns(
            pl.when("is_call_scored")
            .then(pl.when(pl.col("predicted") == "call").then(score).otherwise(0.0))
            .alias(name)
            for name, score in _f1_scores(profile).items()
        )
        .with_columns(value_f1=_ruled_value_f1(profile))
        .with_columns(
            profile=pl.lit(profile.name),
            agent_id=pl.coalesce("label_agent_id", "answer_agent_id"),
            answer_tools=pl.when(is_written).then("written_tools").otherwise("answer_tools"),
            is_malformed=pl.col("answer_is_malformed")
            | pl.col("voids_file")
            | (is_written & pl.col("written_is_malformed")).fill_null(False),
        )
        .select(SCORED_STEPS.column_names)
        .collect(engine="in-memory")
    )
    return ScoredSteps(
        scored, arguments.with_columns(_whole(_OUTCOMES)).select(SCORED_ARGUMENTS.column_names)
    )


def _whole(names: Iterable[str]) -> pl.Expr:
    """Counts as the integers that tables hold; a judge's may be fractions, or without end."""
    return pl.col(*names).clip(-_LARGEST_COUNT, _LARGEST_COUNT).round().cast(pl.Int64)


def _totals(arguments: pl.DataFrame) -> pl.DataFrame:
    """Counts of keys and of values for each step that has arguments on either side."""
    return arguments.group_by("row").agg(
        key_true_positive_count=pl.col("is_shared").sum().cast(pl.Int64),
        key_false_positive_count=pl.col("label_values").is_null().sum().cast(pl.Int64),
        key_false_negative_count=pl.col("answer_values").is_null().sum().cast(pl.Int64),
        has_void_verdict=pl.col("is_void").any(),
        has_unknown_type=pl.col("has_unknown_type").any(),
        **{f"value_{name}": _whole([name]).sum() for name in _OUTCOMES},
        **{f"exact_{name}": pl.col(name).sum() for name in _OUTCOMES},
    )


def _f1_scores(profile: Profile) -> dict[str, pl.Expr]:
    has_keys = pl.sum_horizontal(f"key_{name}" for name in _OUTCOMES) > 0
    without_keys = 1.0 if profile.no_arguments == "one" else 0.0
    value_f1 = f1(*(pl.col(f"exact_{name}") for name in _OUTCOMES))
    return {
        "name_f1": set_f1("name"),
        "key_f1": set_f1("key"),
        "value_f1": pl.when("has_void_verdict")
        .then(0.0)
        .otherwise(pl.when(has_keys).then(value_f1).otherwise(without_keys)),
    }


def set_f1(side: str) -> pl.Expr:
    """F1 of two sets from their counts; two empty sets agree fully."""
    counts = [
        pl.col(f"{side}_{c}_count") for c in ("true_positive", "false_positive", "false_negative")
    ]
    return pl.when(pl.sum_horizontal(counts) == 0).then(1.0).otherwise(f1(*counts))


def f1(true_positives: pl.Expr, false_positives: pl.Expr, false_negatives: pl.Expr) -> pl.Expr:
    """2 P R / (P + R) of precision and recall, 0 to 1; each 0 where nothing stands below.

    It is formed from P and R, as the last digit of a mean can hang on the last bit of it.
    """
    precision = _share(true_positives, true_positives + false_positives)
    recall = _share(true_positives, true_positives + false_negatives)
    return _share(2 * precision * recall, precision + recall)


def _share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(whole > 0).then(part / whole).otherwise(0.0)


def _ruled_value_f1(profile: Profile) -> pl.Expr:
    """The value F1; or the key F1, in a run with a schema, name or judge's log beyond reading."""
    if profile.unsound_schema == "ignored":
        return pl.col("value_f1")
    is_unsound = pl.col("is_call_scored") & (
        pl.col("has_unknown_type").fill_null(False)
        | pl.col("answer_has_list_name")
        | pl.col("has_cut_off_log").fill_null(False)
    )
    is_run_unsound = is_unsound.any().over(RUN_COLUMNS)
    return pl.when(is_run_unsound).then("key_f1").otherwise("value_f1")
