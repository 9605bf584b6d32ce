"""The axioms of SEMANTICS.md as properties of every headline metric, on generated documents.

Each property runs on 300 examples that hypothesis draws. They are scored together, as different
models, because scoring hundreds costs hardly more than scoring one.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from orchbench_analytics.ingest.decode import read_with
from orchbench_analytics.ingest.flatten import flatten_runs, read_runs
from orchbench_analytics.profiles import BUILT_IN, Profile, rules_of
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.score.group import sum_up
from orchbench_analytics.score.steps.score import prepare_steps, score_steps
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import (
    JUDGEMENTS,
    PLANS,
    SCENARIOS,
    SCORED_TABLES,
    STEPS,
    TABLES,
    TOOL_PARAMETERS,
)
from orchbench_analytics.views.catalog import needed_by, no_rows, populate
from tests.generated import (
    ANSWERS,
    MALFORMED,
    MALFORMED_PLANS,
    PLAN_ANSWERS,
    POOR_CALLS,
    REJECTIONS,
    SILENCES,
    SILENT_PLANS,
    Json,
    Model,
    Plan,
    Step,
    answering,
    call_golds,
    document,
    golds,
    models,
    plan_golds,
    rejection_golds,
    runs,
    unusable_golds,
)
from tests.rows import score_plan_frame

HEADLINES = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")
HONEST = ("spec", "strict")
EXAMPLES = 300
ROUNDING = 1e-12  # sums of floats differ in their last digits with the order of summands


def drawn(each: st.SearchStrategy[Any]) -> list[Any]:
    """Examples of a strategy, the same in every run."""
    found: list[Any] = []

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        phases=[Phase.generate],  # nothing fails here, so there is nothing to shrink
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(each)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    assert len(found) == EXAMPLES
    return found


any_run = runs()
any_model = models(any_run)


# Scoring documents


@dataclass(frozen=True)
class Scored:
    """Every scored table, and the views over them."""

    tables: dict[str, pl.DataFrame]
    profiles: Sequence[str]
    connection: duckdb.DuckDBPyConnection

    def rows(self, view: str, *columns: str) -> list[dict[str, Any]]:
        result = self.connection.execute(
            f"select profile, model, {', '.join(columns)} from main.{view} "
            "where profile in $profiles order by all",
            {"profiles": list(self.profiles)},
        )
        names = ["profile", "model", *columns]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def headlines(self, *columns: str) -> dict[tuple[str, str], dict[str, Any]]:
        rows = self.rows("model_scores", *HEADLINES, *columns)
        return {(row.pop("profile"), row.pop("model")): row for row in rows}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """Empty tables in memory, with the views of scores over them."""
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        rules = {name: rules_of(profile) for name, profile in BUILT_IN.items()}
        manifest = Manifest(profiles=rules)
        names = {*TABLES, *needed_by("model_scores")}
        populate(connection, Path(), manifest, names=names)
        for table in TABLES.values():
            connection.execute(f"drop view main.{table.name}")
            connection.execute(f"create table main.{table.name} as {no_rows(table)}")
        yield connection


def score(
    database: duckdb.DuckDBPyConnection,
    documents: dict[str, Sequence[Json]],
    profiles: Sequence[str] = HONEST,
) -> Scored:
    """Score each model's documents, all of them in one go, without a warehouse."""
    rows: dict[str, list[Any]] = {}
    for model, files in documents.items():
        for number, file in enumerate(files):
            for name, new in flattened(model, f"scenario {number}", file):
                rows.setdefault(name, []).extend(new)
    tables = {
        table.name: pl.DataFrame(rows[table.name], schema=polars_schema(table))
        for table in (SCENARIOS, STEPS, PLANS)
    }
    raw = (tables["scenarios"], tables["steps"], tables["plans"])
    tables |= scored_tables(*raw, [BUILT_IN[p] for p in profiles])
    for name, frame in tables.items():
        database.register("frame", frame)
        database.execute(f"delete from main.{name}")
        database.execute(f"insert into main.{name} by name select * from frame")
        database.unregister("frame")
    return Scored(tables, profiles, database)


def flattened(model: str, scenario: str, file: Json) -> Iterable[tuple[str, list[Any]]]:
    data = json.dumps(file).encode()
    key = {"model": model, "experiment": "default", "language": "EN", "scenario": scenario}
    flat, _ = read_with(lambda document: flatten_runs(key, read_runs(document)), data)
    return flat.rows.items()


def scored_tables(
    scenarios: pl.DataFrame,
    steps: pl.DataFrame,
    plans: pl.DataFrame,
    profiles: Sequence[Profile],
) -> dict[str, pl.DataFrame]:
    empty = [pl.DataFrame(schema=polars_schema(t)) for t in (JUDGEMENTS, TOOL_PARAMETERS)]
    prepared = prepare_steps(steps, *empty)
    scored: dict[str, list[pl.DataFrame]] = {}
    for profile in profiles:
        of_steps, of_plans = score_steps(prepared, profile), score_plan_frame(plans, profile)
        summed = sum_up(scenarios, of_steps.steps, of_plans.plans, [profile])
        frames = (*of_steps, *of_plans, summed)
        for table, rows in zip(SCORED_TABLES, frames, strict=True):
            scored.setdefault(table.name, []).append(rows)
    return {name: pl.concat(frames) for name, frames in scored.items()}


def written(batch: Sequence[Model], prefix: str = "") -> dict[str, list[Json]]:
    return {f"{prefix}{n:02}": [document(file) for file in model] for n, model in enumerate(batch)}


# 1. Copying the labels is 1.0, answering nothing is 0.0

all_right = models(runs(["right"], ["right"], has_surplus=False))
all_silent = models(runs(list(SILENCES), list(SILENT_PLANS), has_surplus=False))


def test_a_model_that_copies_the_labels_scores_exactly_one(
    database: duckdb.DuckDBPyConnection,
) -> None:
    batch = drawn(all_right)
    assert_all_score(1.0, database, batch)


def test_a_model_that_answers_nothing_scores_exactly_zero(
    database: duckdb.DuckDBPyConnection,
) -> None:
    batch = drawn(all_silent)
    assert_all_score(0.0, database, batch)


def assert_all_score(value: float, database: duckdb.DuckDBPyConnection, batch: list[Model]) -> None:
    """Every headline of every model is exactly this, wherever there is something to score."""
    scores = score(database, written(batch)).headlines()

    assert len(scores) == len(HONEST) * len(batch)
    for key, headlines in scores.items():
        model = batch[int(key[1])]
        assert set(headlines.values()) <= {value, None}, (key, headlines, model)
        assert_defined_where_labelled(headlines, model)


def assert_defined_where_labelled(headlines: dict[str, float | None], model: Model) -> None:
    """Null exactly where no label of the kind can be scored."""
    every_run = [run for file in model for run in file]
    wants = {step.gold.wants for run in every_run for step in run.steps} - {"nothing"}
    has_plan = any(plan.gold is not None for run in every_run for plan in run.plans)
    assert (headlines["function_call_f1"] is not None) == ("call" in wants)
    assert (headlines["call_rejection_f1"] is not None) == bool(wants)
    assert (headlines["workflow_similarity"] is not None) == has_plan
    assert (headlines["average_score"] is not None) == (has_plan or bool(wants))


# 2. Spoiling a correct answer never raises a score


@dataclass(frozen=True)
class Spoilt:
    """A model before and after one fully correct answer was replaced."""

    before: Model
    after: Model


@st.composite
def spoilt_models(draw: st.DrawFn, model: st.SearchStrategy[Model]) -> Spoilt:
    """Some model with a right answer somewhere, and the same with another answer there."""
    before = draw(model)
    places = [
        (f, r, kind, i)
        for f, file in enumerate(before)
        for r, run in enumerate(file)
        for kind, items in (("steps", run.steps), ("plans", run.plans))
        for i in range(len(items))
    ]
    if not places:
        return Spoilt(before, before)
    place = draw(st.sampled_from(places))
    others = ANSWERS if place[2] == "steps" else PLAN_ANSWERS
    other = draw(st.sampled_from([name for name in others if name != "right"]))
    return Spoilt(answering(before, place, "right"), answering(before, place, other))


def test_spoiling_a_correct_answer_never_raises_a_headline(
    database: duckdb.DuckDBPyConnection,
) -> None:
    batch = drawn(spoilt_models(any_model))
    documents = written([b.before for b in batch], "a") | written([b.after for b in batch], "b")

    scores = score(database, documents).headlines()

    for (profile, model), before in scores.items():
        if model[0] == "a":
            after = scores[profile, f"b{model[1:]}"]
            assert_never_above(after, before)


def assert_never_above(lower: dict[str, float | None], upper: dict[str, float | None]) -> None:
    for headline in HEADLINES:
        low, high = lower[headline], upper[headline]
        assert (low is None) == (high is None), headline
        assert low is None or high is None or low <= high + ROUNDING, headline


@st.composite
def called_or_not(draw: st.DrawFn) -> tuple[Model, Model]:
    """A model that calls poorly where a call is due, and one that rejects or is silent there."""
    run = draw(any_run)
    gold = draw(call_golds)
    poor = draw(st.sampled_from(list(POOR_CALLS)))
    evasive = draw(st.sampled_from([*REJECTIONS, *SILENCES]))
    others = draw(st.lists(any_run, max_size=1))
    return tuple(
        ((replace(run, steps=(Step(gold, answer), *run.steps), surplus=()), *others),)
        for answer in (poor, evasive)
    )  # type: ignore[return-value]


def test_under_strict_evading_a_due_call_never_scores_above_a_poor_call(
    database: duckdb.DuckDBPyConnection,
) -> None:
    batch = drawn(called_or_not())
    documents = written([c for c, _ in batch], "call") | written([e for _, e in batch], "evade")

    scores = score(database, documents, ["strict"]).headlines()

    for number in range(len(batch)):
        called = scores["strict", f"call{number:02}"]
        assert_never_above(scores["strict", f"evade{number:02}"], called)


@st.composite
def rejected_or_failed(draw: st.DrawFn) -> tuple[Model, Model]:
    run = draw(any_run)
    gold = draw(rejection_golds)
    failure = draw(st.sampled_from([*SILENCES, "nameless", "half a call as text"]))
    return tuple(
        ((replace(run, steps=(Step(gold, answer), *run.steps), surplus=()),),)
        for answer in ("right", failure)
    )  # type: ignore[return-value]


def test_under_strict_failing_where_a_rejection_was_due_counts_against_recall(
    database: duckdb.DuckDBPyConnection,
) -> None:
    batch = drawn(rejected_or_failed())
    documents = written([r for r, _ in batch], "reject") | written([f for _, f in batch], "fail")
    counts = ("true_positive_reject_count", "false_negative_reject_count", "reject_recall")

    scores = score(database, documents, ["strict"]).headlines(*counts)

    for number in range(len(batch)):
        rejected, failed = (scores["strict", f"{k}{number:02}"] for k in ("reject", "fail"))
        assert failed["reject_recall"] < rejected["reject_recall"]
        assert [rejected[c] - failed[c] for c in counts[:2]] == [1, -1]
        assert_never_above(failed, rejected)


# 3. Order does not count


def shuffled(value: Json, luck: random.Random) -> Json:
    """The same with the keys of every object in another order, also inside JSON texts."""
    if isinstance(value, dict):
        items = [(key, shuffled(item, luck)) for key, item in value.items()]
        luck.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        return [shuffled(item, luck) for item in value]
    if isinstance(value, str) and value.startswith('{"'):
        try:
            return json.dumps(shuffled(json.loads(value), luck))
        except ValueError:
            return value
    if isinstance(value, str) and re.match(r"workflow_\d:\s+\w", value):
        try:
            plan = yaml.safe_load(value)
        except yaml.YAMLError:
            return value
        return yaml.safe_dump(shuffled(plan, luck), sort_keys=False)
    return value


def reordered(file: Json, luck: random.Random) -> Json:
    """A document with its runs, steps, keys and workflows in another order."""
    for run in file["history"].values():
        for history in ("main_agent_history", "sub_agent_history"):
            entries = list(run[history])
            luck.shuffle(entries)
            # Of several answers to one step the first counts, so among themselves they stay.
            same_step = {
                e["step_id"]: iter([x for x in run[history] if x["step_id"] == e["step_id"]])
                for e in entries
            }
            run[history] = [next(same_step[e["step_id"]]) for e in entries]
    return shuffled(file, luck)


PLACES = ("answer_position", "judge_index", "run_position", "step_key", "plan_key")


def test_scores_do_not_depend_on_order(database: duckdb.DuckDBPyConnection) -> None:
    batch, luck = drawn(any_model), random.Random(1)
    documents = written(batch)
    as_written = score(database, documents)
    headlines = as_written.headlines()
    other_order = {
        model: [reordered(file, luck) for file in files] for model, files in documents.items()
    }
    names = list(other_order)
    luck.shuffle(names)

    again = score(database, {name: other_order[name] for name in names})

    assert sorted_rows(as_written.tables["scored_steps"]) == sorted_rows(
        again.tables["scored_steps"]
    )
    assert_same(again.headlines(), headlines)


def test_scores_do_not_depend_on_the_order_of_files(database: duckdb.DuckDBPyConnection) -> None:
    batch, luck = drawn(any_model), random.Random(1)
    frames = score(database, written(batch))
    headlines = frames.headlines()
    for name, frame in frames.tables.items():
        order = list(range(len(frame)))
        luck.shuffle(order)
        database.register("frame", frame[order])
        database.execute(f"delete from main.{name}")
        database.execute(f"insert into main.{name} by name select * from frame")
        database.unregister("frame")

    assert_same(frames.headlines(), headlines)


def assert_same(scores: dict[Any, dict[str, Any]], others: dict[Any, dict[str, Any]]) -> None:
    assert scores.keys() == others.keys()
    for key, headlines in scores.items():
        for headline, value in headlines.items():
            other = others[key][headline]
            assert (value is None) == (other is None), (key, headline)
            assert value is None or abs(value - other) <= ROUNDING, (key, headline)


def sorted_rows(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    kept = frame.select(pl.exclude(PLACES))
    return sorted(kept.rows(), key=lambda row: tuple(map(str, row)))


# 4. A malformed answer costs that answer; nothing is dropped silently


answered_run = runs(has_surplus=False)


@st.composite
def broken_models(draw: st.DrawFn) -> tuple[Model, Model, tuple[int, int, str, int]]:
    """A model, the same with one answer malformed, and where."""
    run = draw(answered_run)
    kind = draw(st.sampled_from(["steps", "plans"]))
    if kind == "steps":
        item: Any = Step(draw(golds), draw(st.sampled_from(list(ANSWERS))))
        other = draw(st.sampled_from(list(MALFORMED)))
    else:
        item = Plan(draw(plan_golds), draw(st.sampled_from(list(PLAN_ANSWERS))))
        other = draw(st.sampled_from(list(MALFORMED_PLANS)))
    place = draw(st.integers(0, len(getattr(run, kind))))
    items = list(getattr(run, kind))
    items.insert(place, item)
    whole = replace(run, **{kind: tuple(items)})
    neighbours = draw(any_model)
    model = ((whole, *neighbours[0]), *neighbours[1:])
    return model, answering(model, (0, 0, kind, place), other), (0, 0, kind, place)


def test_a_malformed_answer_costs_that_answer_only(database: duckdb.DuckDBPyConnection) -> None:
    batch = drawn(broken_models())
    before = score(database, written([b[0] for b in batch]))
    after = score(database, written([b[1] for b in batch]))

    touched = {
        f"{n:02}": (kind, str(place + (10 if kind == "steps" else 2)))
        for n, (_, _, (_, _, kind, place)) in enumerate(batch)
    }
    for table in ("scored_steps", "scored_arguments", "scored_plans", "plan_edits"):
        kind = "plans" if "plan" in table else "steps"
        assert untouched_rows(before.tables[table], kind, touched) == untouched_rows(
            after.tables[table], kind, touched
        )


def untouched_rows(
    frame: pl.DataFrame, kind: str, touched: dict[str, tuple[str, str]]
) -> list[tuple[Any, ...]]:
    """All rows but those of the answer that was replaced, always in a model's first run."""
    rows = sorted_rows(frame.filter(~pl.struct("scenario", "run").eq(FIRST_RUN)))
    first = frame.filter(pl.struct("scenario", "run").eq(FIRST_RUN))
    return rows + [
        row
        for row in sorted_rows(first)
        if touched[row[frame.get_column_index("model")]]
        != (kind, row[frame.get_column_index("step_id")])
    ]


FIRST_RUN = pl.struct(scenario=pl.lit("scenario 0"), run=pl.lit("run #1"))


def test_everything_is_scored_or_left_out_with_a_reason(
    database: duckdb.DuckDBPyConnection,
) -> None:
    batch = drawn(any_model)
    scored = score(database, written(batch), list(BUILT_IN))

    for flat, table in (("steps", "scored_steps"), ("plans", "scored_plans")):
        rows = scored.tables[table]
        assert set(rows["profile"].value_counts()["count"]) <= {len(scored.tables[flat])}
        assert (rows["is_scored"] == rows["left_out_reason"].is_null()).all()
    scenarios = scored.rows("scenario_scores", "scenario", *STEP_COUNTS, *PLAN_COUNTS)
    for flat, counts in (("steps", STEP_COUNTS), ("plans", PLAN_COUNTS)):
        sizes = scored.tables[flat].group_by("model", "scenario").len().rows()
        row_counts = {(model, scenario): size for model, scenario, size in sizes}
        for row in scenarios:
            counted = sum(row[count] for count in counts)
            assert counted == row_counts.get((row["model"], row["scenario"]), 0)


STEP_COUNTS = (
    "call_label_count",
    "rejection_label_count",
    "unusable_label_count",
    "surplus_answer_count",
    "unlabelled_answer_count",
    "unanswered_step_count",
    "void_step_count",
)
PLAN_COUNTS = ("plan_count", "left_out_plan_count")


# 5. Undefined is null

DETAILS = ("reject_f1", "call_f1", "name_f1", "key_f1", "value_f1", "read_plan_similarity")
COUNTS = (
    "rejection_label_count",
    "true_positive_call_count",
    "false_positive_call_count",
    "false_negative_call_count",
    "true_positive_reject_count",
    "false_positive_reject_count",
    "plan_count",
    "failed_plan_count",
)
poor_in_kinds = st.one_of(
    models(runs(step_golds=call_golds, has_plans=False)),
    models(runs(step_golds=rejection_golds)),
    models(runs(step_golds=unusable_golds, has_plans=False)),
    any_model,
)


def test_undefined_is_null_and_stays_out_of_every_mean(database: duckdb.DuckDBPyConnection) -> None:
    batch = drawn(poor_in_kinds)
    scored = score(database, written(batch))

    headlines = scored.headlines(*DETAILS, *COUNTS)
    scenarios = scored.rows(
        "scenario_scores", "name_f1", "call_label_count", "plan_similarity", "plan_count"
    )

    for row in scenarios:
        assert (row["name_f1"] is None) == (row["call_label_count"] == 0)
        assert (row["plan_similarity"] is None) == (row["plan_count"] == 0)
    for (profile, model), row in headlines.items():
        files = [r for r in scenarios if (r["profile"], r["model"]) == (profile, model)]
        assert row["name_f1"] == mean(r["name_f1"] for r in files)
        assert row["workflow_similarity"] == mean(r["plan_similarity"] for r in files)
        assert row["function_call_f1"] == (
            None if row["name_f1"] is None else mean(row[n] for n in DETAILS[2:5])
        )
        assert row["call_rejection_f1"] == mean((row["reject_f1"], row["call_f1"]))
        assert row["average_score"] == mean(row[h] for h in HEADLINES[1:])
        assert (row["call_f1"] is None) == (sum(row[c] for c in COUNTS[1:4]) == 0)
        rejections = ("rejection_label_count", *COUNTS[4:6])
        assert (row["reject_f1"] is None) == (sum(row[c] for c in rejections) == 0)
        all_failed = row["plan_count"] == row["failed_plan_count"]
        assert (row["read_plan_similarity"] is None) == all_failed


def mean(values: Any) -> Any:
    """The mean of what is defined; null if nothing is."""
    defined = [value for value in values if value is not None]
    return pytest.approx(sum(defined) / len(defined), abs=ROUNDING) if defined else None
