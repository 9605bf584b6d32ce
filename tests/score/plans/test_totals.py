"""Scoring plans: which count, which failed, what is left out, and what the rules change."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from orchbench_analytics.profiles import SPEC, UPSTREAM, Profile
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.score.plans.graphs import drawing_rules
from orchbench_analytics.score.plans.score import ScoredPlans
from orchbench_analytics.tables import PLAN_EDITS, PLAN_MATCHES, SCORED_PLANS
from tests.rows import Row, columns_of, plan, plans_frame, score_plan_frame

LABEL = plan()["label_content"]
TWO = (
    "workflow_1:\n  steps:\n  - {agent_id: a, status: new}\nworkflow_2: {depends_on: [workflow_1]}"
)
SIMILARITIES = ("structure_similarity", "component_similarity", "plan_similarity")


def score(*rows: Row, profile: Profile = SPEC, **rules: Any) -> ScoredPlans:
    return score_plan_frame(plans_frame(*rows), replace(profile, **rules))


def columns(*rows: Row, names: tuple[str, ...], **options: Any) -> list[Any]:
    return columns_of(score(*rows, **options).plans, *names)


class TestSimilarity:
    @pytest.mark.parametrize(
        ("answer", "similarities"),
        [
            (LABEL, (1.0, 1.0, 1.0)),
            ('{"workflow_9": {"steps": [{"name": "a", "status": "new"}]}}', (1.0, 1.0, 1.0)),
            ("workflow_1:\n  steps:\n  - {agent_id: a, status: done}", (1.0, 0.9, 0.95)),
            ("workflow_1:\n  steps:\n  - {agent_id: b, status: new}", (1.0, 0.6, 0.8)),
            ("workflow_1:\n  steps:\n  - {agent_id: b, status: done}", (1.0, 0.5, 0.75)),
            (TWO, (0.5, 1.0, 0.75)),
            ("workflow_1: {}", (1.0, 0.0, 0.5)),
        ],
    )
    def test_it_is_the_mean_of_structure_and_component(
        self, answer: str, similarities: Any
    ) -> None:
        (found,) = columns(plan(answer_content=answer), names=SIMILARITIES)

        assert found == pytest.approx(similarities)

    def test_weights_say_what_half_a_match_costs(self) -> None:
        row = plan(answer_content="workflow_1:\n  steps:\n  - {agent_id: b, status: new}")

        (found,) = columns(row, names=("component_similarity",), agent_weight=0.5)

        assert found == pytest.approx(0.75)

    def test_edits_add_up_to_the_distance(self) -> None:
        scored = score(plan(answer_content=TWO))

        (row,) = scored.plans.to_dicts()
        costs = scored.edits.group_by("graph").agg(pl.col("cost").sum())
        assert dict(costs.rows()) == {"structure": row["structure_distance"]}
        assert columns_of(scored.edits, "edit_number") == [0, 1]

    def test_an_equal_plan_needs_no_edits(self) -> None:
        assert len(score(plan(answer_content=LABEL)).edits) == 0


class TestFailures:
    @pytest.mark.parametrize(
        ("columns_given", "read_as"),
        [
            ({"answer_position": None, "answer_number": None}, "missing"),
            ({"answer_content": None}, "missing"),
            ({"answer_content": " "}, "empty"),
            ({"answer_content": "I have a plan."}, "no_workflow"),
            ({"answer_content": "<think>" + LABEL + "</think>"}, "empty"),
        ],
    )
    def test_a_failed_plan_scores_0_and_counts_once(self, columns_given: Row, read_as: str) -> None:
        names = ("is_scored", "is_failed", "read_as", "failed_generation_count", *SIMILARITIES)

        found = columns(plan(**columns_given), names=names)

        assert found == [(True, True, read_as, 1, 0.0, 0.0, 0.0)]

    @pytest.mark.parametrize(
        ("row", "count"),
        [
            (plan(answer_content=LABEL), 0),
            (plan(answer_content="?"), 2),
            (plan(answer_position=None, answer_number=None), 1),
            (plan(label_content="workflow_1: [", answer_content="?"), 1),
            (plan(label_content=None, answer_content="?"), 1),
            (plan(label_content=None, answer_content=LABEL), 0),
            (plan(answer_content="?", is_numbered_run=False), 0),
        ],
    )
    def test_the_evaluator_counts_entries_and_labels(self, row: Row, count: int) -> None:
        assert columns(row, names=("failed_generation_count",), profile=UPSTREAM) == [count]


class TestLeftOut:
    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            (plan(), None),
            (plan(label_content="workflow_1: [broken"), "unreadable_label"),
            (plan(label_content=None), "unlabelled_answer"),
            (plan(answer_number=2), "surplus_answer"),
        ],
    )
    @pytest.mark.parametrize("profile", [SPEC, UPSTREAM], ids=lambda p: p.name)
    def test_with_a_reason(self, row: Row, reason: str | None, profile: Profile) -> None:
        names = ("left_out_reason", "is_scored")

        assert columns(row, names=names, profile=profile) == [(reason, reason is None)]

    def test_what_is_left_out_is_no_failure(self) -> None:
        rows = [
            plan(label_content=None, answer_content="?"),
            plan(answer_number=2, answer_content="?"),
            plan(label_content="workflow_1: [broken", answer_content="?"),
        ]

        assert columns(*rows, names=("failed_generation_count",)) == [0, 0, 0]

    def test_what_is_left_out_has_no_similarity_and_no_edits(self) -> None:
        scored = score(plan(label_content=None, answer_content=TWO))

        assert columns_of(scored.plans, *SIMILARITIES) == [(None, None, None)]
        assert len(scored.edits) == 0

    def test_runs_with_other_names_only_where_the_rule_says_so(self) -> None:
        row = plan(is_numbered_run=False)

        assert columns(row, names=("left_out_reason",)) == [None]
        found = columns(row, names=("left_out_reason",), plan_runs="numbered")
        assert found == ["unnumbered_run"]

    def test_malformed_parts_are_flagged_or_void_their_run(self) -> None:
        malformed = "workflow_1: {steps: [{agent_id: a, status: new}, 5]}"
        rows = [
            plan(step_id="3", answer_content=malformed),
            plan(step_id="5", answer_content=LABEL),
            plan(step_id="3", run="run #2", answer_content=LABEL),
        ]
        names = ("is_malformed", "left_out_reason", "plan_similarity")

        assert columns(*rows, names=names) == [
            (True, None, 1.0),
            (False, None, 1.0),
            (False, None, 1.0),
        ]
        assert columns(*rows, names=names, malformed_plan="voids_run") == [
            (True, "void_run", None),
            (False, "void_run", None),
            (False, None, 1.0),
        ]


class TestRules:
    def test_a_plan_amid_prose_is_looked_for_once_more(self) -> None:
        row = plan(answer_content='So: {"workflow_1": {"steps": [], "note": "}"}}, I think.')

        assert columns(row, names=("is_failed", "read_as")) == [(False, "second_look")]
        assert columns(row, names=("is_failed",), plan_search="basic") == [True]

    def test_depend_on_is_a_dependency_too(self) -> None:
        text = "workflow_1: {}\nworkflow_2: {depend_on: workflow_1}"
        row = plan(label_content=text, answer_content="workflow_1: {}\nworkflow_2: {}")

        sizes = ("label_workflow_count", "label_dependency_count")
        assert columns(row, names=sizes) == [(2, 1)]
        assert columns(row, names=sizes, structure_edges="depends_on_only") == [(2, 0)]

    @pytest.mark.parametrize(
        "rule", ["scored_unit", "silence", "verdict", "rounding", "undefined", "without_failure"]
    )
    def test_rules_about_other_things_change_no_plan(self, rule: str) -> None:
        rows = [plan(answer_content=TWO), plan(run="run #2")]

        other = replace(SPEC, **{rule: getattr(UPSTREAM, rule)})
        changed = score(*rows, profile=other)

        assert changed.plans.equals(score(*rows).plans)
        assert drawing_rules(other) == drawing_rules(SPEC)


def test_tables_are_as_declared_even_without_rows() -> None:
    for rows in ([], [plan(answer_content=TWO)]):
        scored = score(*rows)

        assert dict(scored.plans.schema) == polars_schema(SCORED_PLANS)
        assert dict(scored.edits.schema) == polars_schema(PLAN_EDITS)
        assert dict(scored.matches.schema) == polars_schema(PLAN_MATCHES)
