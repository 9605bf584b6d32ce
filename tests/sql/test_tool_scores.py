REJECTED = "AWAITING_USER_INPUT"


def test_choosing_counts_every_scored_step(given, expect) -> None:
    given(
        scored_steps=[
            {"label_tools": '["a"]', "answer_tools": '["a"]', "answer_position": 0},
            {"label_tools": '["a"]', "answer_tools": '["b"]', "answer_position": 1},
            {"label_tools": '["a"]', "predicted": REJECTED, "answer_position": 2},
            {"label_tools": '["a"]', "predicted": "failed"},
            {"actual": REJECTED, "answer_tools": '["a"]', "answer_position": 3},
        ]
    )
    expect(
        "tool_scores",
        [
            {
                "tool": "a",
                "labelled_step_count": 4,
                "answered_step_count": 2,
                "tool_true_positive_count": 1,
                "tool_false_positive_count": 1,
                "tool_false_negative_count": 3,
                "overaction_count": 1,
                "replaced_step_count": 1,
                "rejected_step_count": 1,
                "failed_step_count": 1,
                "tool_precision": 0.5,
                "tool_recall": 0.25,
                "tool_f1": 1 / 3,
            },
            {
                "tool": "b",
                "labelled_step_count": 0,
                "answered_step_count": 1,
                "tool_true_positive_count": 0,
                "tool_false_positive_count": 1,
                "tool_false_negative_count": 0,
                "overaction_count": 0,
                "replaced_step_count": 0,
                "rejected_step_count": 0,
                "failed_step_count": 0,
                "tool_precision": 0.0,
                "tool_recall": None,
                "tool_f1": 0.0,
            },
        ],
    )


def test_arguments_count_where_the_tool_was_rightly_called(given, expect) -> None:
    counts = {
        "is_call_scored": True,
        "key_true_positive_count": 3,
        "key_false_positive_count": 1,
        "value_true_positive_count": 2,
        "value_false_positive_count": 2,
        "value_false_negative_count": 1,
    }
    given(
        scored_steps=[
            {"label_tools": '["a"]', "answer_tools": '["a"]', "answer_position": 0, **counts},
            {"label_tools": '["a"]', "answer_tools": '["b"]', "answer_position": 1, **counts},
        ]
    )
    columns = ("tool", "key_precision", "key_recall", "key_micro_f1", "value_precision")
    columns += ("value_recall", "value_micro_f1", "value_false_negative_count")
    rows = [
        ("a", 0.75, 1.0, 6 / 7, 0.5, 2 / 3, 4 / 7, 1),
        ("b", None, None, None, None, None, None, 0),
    ]
    expect("tool_scores", [dict(zip(columns, row, strict=True)) for row in rows])


def test_a_tool_never_called_has_recall_and_no_precision(given, expect) -> None:
    given(scored_steps=[{"label_tools": '["a"]', "predicted": "failed", "is_call_scored": True}])
    expect(
        "tool_scores", [{"tool": "a", "tool_precision": None, "tool_recall": 0.0, "tool_f1": 0.0}]
    )
