"""Which entry of the main agent answers a labelled plan, and what gives up a whole run."""

import json
from typing import Any

import pytest

from orchbench_analytics.profiles import SPEC, UPSTREAM
from tests.rows import Row, columns_of, plan
from tests.score.plans.test_totals import LABEL, columns, score

UNREAD = "hm"
BAD_DATE = "workflow_1: {due: 2024-02-30}"
UNDRAWN = '{"workflow_1": null}'
OTHER = "workflow_1: {}"  # half alike
FIGURES = ("is_scored", "failed_generation_count", "plan_similarity")


def entries(*contents: str | None, **columns: Any) -> list[Row]:
    """Entries of the main agent for one step."""
    return [
        plan(answer_position=place, answer_number=place + 1, answer_content=content) | columns
        for place, content in enumerate(contents)
    ]


class TestSeveralEntries:
    @pytest.mark.parametrize(
        ("contents", "spec", "upstream"),
        [
            (
                (LABEL, UNREAD),
                [(True, 0, 1.0), (False, 0, None)],
                [(True, 0, 1.0), (False, 1, None)],
            ),
            (
                (UNREAD, LABEL),
                [(True, 1, 0.0), (False, 0, None)],
                [(False, 1, None), (True, 0, 1.0)],
            ),
            (
                (LABEL, OTHER),
                [(True, 0, 1.0), (False, 0, None)],
                [(False, 0, None), (True, 0, 0.5)],
            ),
            ((UNREAD, "?"), [(True, 1, 0.0), (False, 0, None)], [(True, 2, 0.0), (False, 1, None)]),
        ],
    )
    def test_the_first_counts_or_the_last_that_was_read(
        self, contents: Any, spec: Any, upstream: Any
    ) -> None:
        rows = entries(*contents)

        assert columns(*rows, names=FIGURES) == spec
        assert columns(*rows, names=FIGURES, profile=UPSTREAM) == upstream

    def test_only_the_one_that_counts_can_void_its_run(self) -> None:
        names = ("left_out_reason",)

        found = columns(*entries(UNDRAWN, LABEL), names=names, profile=UPSTREAM)
        assert found == ["surplus_answer", None]
        found = columns(*entries(LABEL, UNDRAWN), names=names, profile=UPSTREAM)
        assert found == ["void_run", "void_run"]


class TestStepIds:
    def test_a_text_is_a_number_only_in_spec(self) -> None:
        row = plan(answer_content=LABEL, step_kind="text")

        assert columns(row, names=FIGURES) == [(True, 0, 1.0)]
        assert columns(row, names=FIGURES, profile=UPSTREAM) == [(True, 1, 0.0)]
        scored = score(row | {"answer_content": OTHER}, profile=UPSTREAM)
        assert len(scored.edits) == 0
        assert columns_of(scored.plans, "answer_workflow_count", "is_failed") == [(None, True)]

    def test_a_number_counts_beside_a_text(self) -> None:
        first, second = entries(LABEL, OTHER)

        found = columns(first | {"step_kind": "text"}, second, names=FIGURES, profile=UPSTREAM)

        assert found == [(False, 0, None), (True, 0, 0.5)]

    @pytest.mark.parametrize("kind", ["absent", "null"])
    @pytest.mark.parametrize("content", [UNREAD, BAD_DATE, LABEL])
    def test_without_one_an_entry_is_skipped(self, kind: str, content: str) -> None:
        row = plan(step_id="", label_content=None, answer_content=content, step_kind=kind)
        names = ("left_out_reason", "failed_generation_count")

        for profile in (SPEC, UPSTREAM):
            assert columns(row, names=names, profile=profile) == [("unlabelled_answer", 0)]

    @pytest.mark.parametrize(
        ("kind", "content", "found"),
        [
            ("list", LABEL, ("void_run", 0)),
            ("object", LABEL, ("void_run", 0)),
            ("list", UNREAD, ("unlabelled_answer", 1)),
            ("boolean", LABEL, ("unlabelled_answer", 0)),
        ],
    )
    def test_a_plan_for_a_list_voids_its_run(self, kind: str, content: str, found: Any) -> None:
        row = plan(step_id="[3]", label_content=None, answer_content=content, step_kind=kind)
        names = ("left_out_reason", "failed_generation_count")

        assert columns(row, names=names, profile=UPSTREAM) == [found]
        assert columns(row, names=names) == [("unlabelled_answer", 0)]


class TestContents:
    @pytest.mark.parametrize("kind", ["number", "boolean", "object"])
    def test_that_are_no_text_are_unread(self, kind: str) -> None:
        row = plan(answer_content=LABEL, content_kind=kind)
        names = (*FIGURES, "read_as")

        assert columns(row, names=names) == [(True, 1, 0.0, "not_text")]
        assert columns(row, names=names, profile=UPSTREAM) == [(True, 2, 0.0, "not_text")]

    def test_of_a_list_the_text_parts_count_in_spec(self) -> None:
        parts = json.dumps([{"type": "text", "text": LABEL[:12]}, {"text": 7}, 7, LABEL[12:]])
        row = plan(answer_content=parts, content_kind="list")

        assert columns(row, names=FIGURES) == [(True, 0, 1.0)]
        assert columns(row, names=FIGURES, profile=UPSTREAM) == [(True, 2, 0.0)]


class TestVoidRuns:
    """What makes the public evaluator give up all plans of a run, and of that run only."""

    ROWS = (
        plan(step_id="5", answer_content=LABEL),
        plan(step_id="5", answer_content=LABEL, run="run #2"),
    )

    @pytest.mark.parametrize(
        "row",
        [
            plan(answer_content=BAD_DATE),
            plan(answer_content=BAD_DATE, step_kind="text"),
            plan(answer_content=BAD_DATE, label_content=None),
            plan(answer_content="1: x\nworkflow_1: {}", label_content=None),
            plan(answer_content="workflow_1: {}\n1: x"),
            plan(answer_content=UNDRAWN),
            plan(step_id="", label_content=None, step_kind="no_object", content_kind="absent"),
            *(
                plan(answer_position=None, answer_number=None, step_kind=kind, content_kind=None)
                for kind in ("history_null", "history_object", "history_number")
            ),
        ],
    )
    def test_by(self, row: Row) -> None:
        names = ("left_out_reason", "failed_generation_count")

        found = columns(row, *self.ROWS, names=names, profile=UPSTREAM)
        assert found == [("void_run", 0), ("void_run", 0), (None, 0)]
        assert columns(row, *self.ROWS, names=names)[1:] == [(None, 0), (None, 0)]

    @pytest.mark.parametrize(
        "row",
        [
            plan(answer_content=UNDRAWN, label_content=None),
            plan(answer_content="workflow_1: {}\n1: x", label_content=None),
            plan(answer_content="workflow_1: {a: !!binary b}", label_content=None),
            plan(answer_position=None, answer_number=None, step_kind="history_absent"),
        ],
    )
    def test_not_by(self, row: Row) -> None:
        found = columns(row, *self.ROWS, names=("left_out_reason",), profile=UPSTREAM)

        assert found[1:] == [None, None]

    def test_in_spec_a_bad_value_costs_its_answer_only(self) -> None:
        found = columns(plan(answer_content=BAD_DATE), *self.ROWS, names=("is_failed", "read_as"))

        assert found == [(True, "bad_value"), (False, "yaml"), (False, "yaml")]
