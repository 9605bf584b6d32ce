"""A model's shard: its scenarios, runs and steps, down to the answers and what they counted.

Models are read a few at a time, since a file may hold a thousand of them. Texts that repeat are
kept once: labels and questions as numbers, calls as how they differ from the label's, and the
scores of other profiles where they differ from those of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import polars as pl
import polars.selectors as cs

from orchbench_analytics.pages.columns import columns_of
from orchbench_analytics.pages.plan_picture import draw_pictures
from orchbench_analytics.pages.source import Source
from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.score import with_text_parts
from orchbench_analytics.views.catalog import frame_of, quoted

_MODEL = ("model", "experiment")
_RUN = ("language", "scenario", "run")
_STEP = (*_RUN, "step_id", "answer_position")
_KEY = (*_MODEL, *_STEP)
# What the page shows nowhere, or by other columns, and does not read.
_CELLS = tuple(
    f"{truth}_{sign}_{side}_count"
    for truth in ("true", "false")
    for sign in ("positive", "negative")
    for side in ("reject", "call")
)
_NOT_READ = {
    "steps": ("has_label", "has_call_key", "step_kind", "content_kind"),
    "scored_steps": ("failed_generation_count", "run_position", *_CELLS),
    "scored_plans": ("failed_generation_count", "structure_lower_bound", "component_lower_bound"),
    # They are known by the key of their row.
    **dict.fromkeys(("scored_arguments", "plan_edits", "plan_matches"), _STEP),
}
_ROW_KEYS = ("step_key", "plan_key")
_NOT_SHOWN = pl.selectors.by_name("step_kind", "content_kind", "is_numbered_run", require_all=False)
_RAW = ("steps", "plans", "judgements")
_SCORED = ("scored_steps", "scored_plans", "scored_arguments", "plan_edits", "plan_matches")
_FILES = """
select
    profile, model, experiment, language, scenario, scenario_score, decision_accuracy,
    file_call_f1, means.plan_similarity, scores.failed_generation_count, scores.failed_plan_count,
    scores.run_count
from main.scenario_means as means
inner join main.scenario_scores as scores using (profile, model, experiment, language, scenario)
"""

Rows = dict[str, pl.DataFrame]


def shards(source: Source, *, first: int, answer_limit: int) -> Iterator[tuple[str, Any]]:
    """The shard of each model of a batch, and its name; `first` is the number of the first one."""
    tables = _tables(_read(source), source, answer_limit=answer_limit)
    parts = {name: rows.partition_by(_MODEL, as_dict=True) for name, rows in tables.items()}
    for number, model in enumerate(source.models, first):
        own = {name: parts[name].get(model, tables[name].clear()).drop(_MODEL) for name in tables}
        yield f"model-{number}", _shard(own, source.profiles)


def summaries(source: Source) -> Iterator[tuple[str, Any]]:
    """The shard of each model without its steps and plans: how its scenarios scored."""
    files = source.query(f"{_FILES} order by profile, language, scenario")
    parts = files.partition_by(_MODEL, as_dict=True)
    for number, model in enumerate(source.models):
        own = parts.get(model, files.clear()).drop(_MODEL)
        yield f"model-{number}", {"files": columns_of(own)}


def _read(source: Source) -> Rows:
    """Every table of the batch as it is stored, and its scored files as `files`."""
    of_models = f"model in ({_listed([model for model, _ in source.models])})"
    of_profiles = f"{of_models} and profile in ({_listed(list(source.profiles))})"
    queries = {
        **{name: f"{_selected(name)} where {of_models}" for name in _RAW},
        **{name: f"{_selected(name)} where {of_profiles}" for name in _SCORED},
        "files": f"{_FILES} where {of_profiles} order by profile, language, scenario",
    }
    with source.connect(*_RAW, *_SCORED, "scenario_means") as connection:
        return {name: frame_of(connection.sql(query)) for name, query in queries.items()}


def _selected(table: str) -> str:
    left_out = _NOT_READ.get(table)
    columns = f"* exclude ({', '.join(left_out)})" if left_out else "*"
    return f"select {columns} from main.{table}"


def _tables(rows: Rows, source: Source, *, answer_limit: int) -> Rows:
    """The tables of the shards, of all models of the batch."""
    labels, names = source.labels(), list(source.profiles)
    numbered = {
        name: rows[name].sort(_KEY).with_columns(row=pl.int_range(pl.len()).over(_MODEL))
        for name in ("steps", "plans")
    }

    def of(table: str, raw: str) -> pl.DataFrame:
        return _numbered(rows[table], numbered[raw])

    steps, step_changes = _by_profile(
        numbered["steps"], _numbered(_with_step_outcomes(rows["scored_steps"]), numbered["steps"]),
        names,
    )  # fmt: skip
    plans, plan_changes = _by_profile(
        numbered["plans"], _numbered(_with_plan_outcomes(rows["scored_plans"]), numbered["plans"]),
        names,
    )  # fmt: skip
    return {
        "files": rows["files"],
        "steps": _with_texts(steps, labels, answer_limit=answer_limit),
        "step_changes": step_changes,
        "plans": _with_texts(plans, labels, answer_limit=answer_limit),
        "plan_changes": plan_changes,
        "arguments": _arguments(of("scored_arguments", "steps"), labels, names),
        "judgements": rows["judgements"].sort(*_MODEL, *_RUN, "call_index", "argument_key"),
        "read_plans": _read_plans(rows["scored_plans"], numbered["plans"]),
        "edits": of("plan_edits", "plans").sort(
            *_MODEL, "profile", "row", "graph", "edit_number"
        ).drop("edit_number"),
        "matches": of("plan_matches", "plans").sort(
            *_MODEL, "profile", "row", "graph", "answer_node"
        ),
    }  # fmt: skip


def _shard(own: Rows, profiles: Mapping[str, Profile]) -> dict[str, Any]:
    """The tables of one model, by columns, and the pictures of its plans."""
    drawn = draw_pictures(own.pop("read_plans"), own.pop("edits"), own.pop("matches"), profiles)
    pictures = _sparse(drawn.numbers, list(profiles), ("row",))
    own["plan_pictures"] = pictures.sort("profile", "row")
    return {name: columns_of(frame) for name, frame in own.items()} | {
        "pictures": [msgspec.Raw(drawing.json) for drawing in drawn.drawings]
    }


def _with_step_outcomes(scored: pl.DataFrame) -> pl.DataFrame:
    """Steps with how each went, what it scored, its error pattern, and whether runs disagree."""
    actual, predicted = pl.col("actual"), pl.col("predicted")
    wants_call, calls, fails = actual == "call", predicted == "call", predicted == "failed"
    is_scored = pl.col("is_scored")
    call_score = pl.mean_horizontal("name_f1", "key_f1", "value_f1", ignore_nulls=False)
    outcome = (
        pl.when(~is_scored).then(pl.lit("left_out"))
        .when(fails).then(pl.lit("failed"))
        .when(wants_call & calls & pl.col("is_call_scored")).then(pl.lit("scored"))
        .when(wants_call & calls).then(pl.lit("called"))
        .when(wants_call).then(pl.lit("rejected_a_due_call"))
        .when(calls).then(pl.lit("called_a_due_rejection"))
        .when(pl.col("is_type_mismatch")).then(pl.lit("rejected_with_other_type"))
        .otherwise(pl.lit("rejected"))
    )  # fmt: skip
    points = {
        "failed": 0.0, "rejected_a_due_call": 0.0, "called_a_due_rejection": 0.0,
        "rejected_with_other_type": 1.0, "rejected": 1.0,
    }  # fmt: skip
    fixed = pl.col("outcome").replace_strict(points, default=None, return_dtype=pl.Float64)
    pattern = (
        pl.when(~is_scored).then(None)
        .when(wants_call & fails).then(pl.lit("failed_call"))
        .when(fails).then(pl.lit("failed_rejection"))
        .when(wants_call & ~calls).then(pl.lit("underaction"))
        .when(~wants_call & calls).then(pl.lit("overaction"))
        .when(pl.col("is_type_mismatch")).then(pl.lit("type_mismatch"))
    )  # fmt: skip
    # The first answer of a run counts.
    run = ("profile", *_MODEL, *_RUN, "step_id")
    in_order = scored.filter(is_scored).sort("answer_position", nulls_last=True)
    firsts = in_order.unique(run, keep="first", maintain_order=True)
    step = [name for name in run if name != "run"]
    unstable = firsts.group_by(step).agg(is_unstable=predicted.n_unique() > 1)
    return (
        scored.with_columns(outcome=outcome, error_pattern=pattern)
        .with_columns(
            outcome_score=pl.when(pl.col("outcome") == "scored").then(call_score).otherwise(fixed)
        )
        .join(unstable, on=step, how="left", maintain_order="left")
        .with_columns(pl.col("is_unstable").fill_null(False) & is_scored)
    )


def _with_plan_outcomes(scored: pl.DataFrame) -> pl.DataFrame:
    is_left_out, is_failed = ~pl.col("is_scored"), pl.col("is_failed")
    return scored.with_columns(
        outcome=pl.when(is_left_out).then(pl.lit("left_out"))
        .when(is_failed).then(pl.lit("unread")).otherwise(pl.lit("scored")),
        outcome_score=pl.when(is_left_out).then(None)
        .when(is_failed).then(0.0).otherwise("plan_similarity"),
    )  # fmt: skip


def _by_profile(
    raw: pl.DataFrame, scored: pl.DataFrame, profiles: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Raw rows with their scores under the first profile, and what others score otherwise."""
    key = (*_MODEL, "row")
    changes = _sparse(scored.drop(_NOT_SHOWN), profiles, key)
    is_first = pl.col("profile") == profiles[0]
    first = changes.filter(is_first).drop("profile")
    shown = raw.drop(_NOT_SHOWN, _row_key(raw))
    joined = shown.join(first, on=key, how="left", maintain_order="left").drop("row")
    return joined, changes.filter(~is_first).sort(*_MODEL, "profile", "row")


def _numbered(rows: pl.DataFrame, raw: pl.DataFrame) -> pl.DataFrame:
    """Rows with the number of the raw row they are about, in place of its key."""
    key = _row_key(raw)
    found = rows.join(raw.select(key, "row"), on=key, how="inner", maintain_order="left")
    own = cs.exclude("profile", "row", key, *_KEY)
    return found.select("profile", *_MODEL, "row", own)


def _row_key(raw: pl.DataFrame) -> str:
    return next(name for name in _ROW_KEYS if name in raw.columns)


def _sparse(rows: pl.DataFrame, profiles: Sequence[str], key: Sequence[str]) -> pl.DataFrame:
    """The rows of the first profile, and of the others those that differ from it."""
    is_first = pl.col("profile") == profiles[0]
    base, others = rows.filter(is_first), rows.filter(~is_first)
    if others.is_empty():
        return rows
    names = [name for name in rows.columns if name not in ("profile", *key)]
    beside = others.join(base.select(*key, pl.struct(names).hash().alias("of_first")),
        on=key, how="left", maintain_order="left")  # fmt: skip
    changed = beside.filter(pl.struct(names).hash().ne_missing(pl.col("of_first")))
    return pl.concat([base, changed.drop("of_first")])


def _read_plans(scored: pl.DataFrame, plans: pl.DataFrame) -> pl.DataFrame:
    """Profile, row and both texts of each plan that was compared."""
    texts = with_text_parts(plans).select(*_MODEL, "row", "label_content", "answer_content")
    compared = _numbered(scored.filter(pl.col("structure_distance").is_not_null()), plans)
    wanted = compared.select("profile", *_MODEL, "row")
    return wanted.join(texts, on=[*_MODEL, "row"], how="left").sort("profile", "row")


def _arguments(found: pl.DataFrame, labels: pl.DataFrame, profiles: Sequence[str]) -> pl.DataFrame:
    """Arguments by step: of the first profile, and of others the steps in which they differ."""
    step = ["profile", *_MODEL, "row"]
    changed = _sparse(found, profiles, (*_MODEL, "row", "argument_key")).select(step).unique()
    # A step that lacks an argument of the first profile differs too.
    counts = found.group_by(step).len()
    of_first = counts.filter(profile=profiles[0]).drop("profile").rename({"len": "of_first"})
    fewer = counts.join(of_first, on=step[1:], how="left").filter(
        pl.col("len").ne_missing(pl.col("of_first"))
    )
    wanted = pl.concat([changed, fewer.select(step)]).unique()
    kept = found.join(wanted, on=step, how="semi", maintain_order="left")
    # Most answers are the label's: a null stands for the same values.
    is_same = pl.col("answer_values").eq_missing(pl.col("label_values"))
    return kept.with_columns(
        _numbers_of(kept["label_values"], labels),
        is_same=is_same,
        answer_values=pl.when(is_same).then(None).otherwise("answer_values"),
    ).sort(*step, "argument_key")


class Difference(NamedTuple):
    """How much of a label an answer begins and ends with, in UTF-16, and what is between."""

    start: int
    end: int
    middle: str


def difference(answer: str, label: str) -> Difference:
    """The answer as the beginning of the label, a text of its own, and the end of the label."""
    if answer == label:
        return Difference(_units(label), 0, "")
    start = _common_length(answer, label)
    rest, label_rest = answer[start:], label[start:]
    end = _common_length(rest[::-1], label_rest[::-1])
    middle = answer[start : len(answer) - end]
    return Difference(_units(label[:start]), _units(label[len(label) - end :]), middle)


def _with_texts(rows: pl.DataFrame, labels: pl.DataFrame, *, answer_limit: int) -> pl.DataFrame:
    """Rows with numbers for labels and questions, answers cut, and calls by how they differ.

    Beside an answer that was cut stands its length.
    """
    answers = [name for name in ("answer_content", "answer_calls") if name in rows.columns]
    length = {name: pl.col(name).str.len_chars() for name in answers}
    found = rows.with_columns(
        *(pl.col(name).str.slice(0, answer_limit) for name in answers),
        *(
            pl.when(length[name] > answer_limit).then(length[name]).alias(f"{name}_length")
            for name in answers
        ),
    )
    if "answer_calls" in answers:
        found = found.with_columns(_differences(found["answer_calls"], found["label_calls"]))
    columns = [n for n in ("label_content", "label_calls", "question") if n in rows.columns]
    return found.with_columns(_numbers_of(rows[name], labels) for name in columns)


def _numbers_of(texts: pl.Series, labels: pl.DataFrame) -> pl.Series:
    """The numbers of labels' texts."""
    found = texts.to_frame("text").join(labels, on="text", how="left", maintain_order="left")
    return found["number"].alias(texts.name)


def _differences(answers: pl.Series, labels: pl.Series) -> list[pl.Series]:
    """The parts of each answer; without a label or an answer there is nothing to share."""
    pairs = pl.DataFrame({"answer": answers, "label": labels})
    distinct = pairs.unique(maintain_order=True)
    found = [
        (None, None, answer) if answer is None or label is None else difference(answer, label)
        for answer, label in distinct.iter_rows()
    ]
    schema = {
        "answer_calls_start": pl.Int64,
        "answer_calls_end": pl.Int64,
        "answer_calls": pl.String,
    }
    parts = distinct.hstack(pl.DataFrame(found, schema=schema, orient="row"))
    keys = ["answer", "label"]
    told = pairs.join(parts, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return told.select(*schema).get_columns()


def _common_length(first: str, second: str) -> int:
    """With how many equal characters both texts begin."""
    pairs = enumerate(zip(first, second, strict=False))
    shortest = min(len(first), len(second))
    return next((place for place, (one, other) in pairs if one != other), shortest)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))
