"""Contents: texts, lists of parts, and what is not a text at all."""

from typing import Any

import pytest

from orchbench_analytics.score.steps.score import join_parts, read_contents
from tests.rows import AWAITING, VIOLATION, columns_of, step, steps_frame

CALL = '{"tool": "book", "arguments": {}}'
READ_CALL = '[{"name": "book", "arguments": {}}]'


def read(content: str | None, kind: str) -> Any:
    steps = steps_frame(step(answer_content=content, content_kind=kind))
    return columns_of(
        read_contents(steps.with_row_index("row")), "answer_text", "marker_part", "written_calls"
    )[0]


@pytest.mark.parametrize(
    ("content", "kind", "found"),
    [
        ("Hm.", "text", ("Hm.", None, None)),
        (AWAITING, "text", (AWAITING, None, None)),
        (CALL, "text", (CALL, None, READ_CALL)),
        (None, "null", (None, None, None)),
        (None, "absent", (None, None, None)),
        ("5", "number", (None, None, None)),
        ("false", "boolean", (None, None, None)),
        (CALL, "object", (None, None, None)),
        (f'{{"{VIOLATION}": 1, "{AWAITING}": 1}}', "object", (None, AWAITING, None)),
        (f'{{"status": "{AWAITING}"}}', "object", (None, None, None)),
        (f'["{VIOLATION}"]', "list", (VIOLATION, VIOLATION, None)),
        (f'["so: ", "{VIOLATION}!"]', "list", (f"so: {VIOLATION}!", None, None)),
        ("[]", "list", ("", None, None)),
        ("[" * 2_000 + "]" * 2_000, "list", ("", None, None)),
    ],
)
def test_a_content_as_text_and_in_parts(content: str | None, kind: str, found: Any) -> None:
    assert read(content, kind) == found


def test_a_call_written_in_parts_is_read() -> None:
    content = '[{"type": "text", "text": "{\\"tool\\": \\"book\\", "}, "\\"arguments\\": {}}"]'

    assert read(content, "list") == (CALL, None, READ_CALL)


def test_equal_texts_of_other_kinds_are_told_apart() -> None:
    rows = [
        step(step_id=kind, answer_content=f'["{AWAITING}"]', content_kind=kind)
        for kind in ("text", "list", "text")
    ]

    found = columns_of(
        read_contents(steps_frame(*rows).with_row_index("row")),
        "step_id",
        "answer_text",
        "marker_part",
    )

    assert found == [
        ("text", f'["{AWAITING}"]', None),
        ("list", AWAITING, AWAITING),
        ("text", f'["{AWAITING}"]', None),
    ]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([], ""),
        (["a", "b"], "ab"),
        ([{"type": "text", "text": "a"}, {"type": "image", "url": "u"}, "b"], "ab"),
        ([1, None, ["a"], {"text": 5}], ""),
        (["\ud800"], "\ufffd"),
    ],
)
def test_the_text_parts_are_joined(parts: list[Any], text: str) -> None:
    assert join_parts(parts) == text
