STEP = {"is_call_scored": True, "label_tools": '["book"]', "answer_position": 0}
BOTH = {"answer_values": '["x"]', "label_values": '["x"]', "answer_position": 0}


def test_counts_are_summed_by_tool_and_key(given, expect) -> None:
    given(
        scored_steps=[{**STEP, "step_id": "4"}, {**STEP, "step_id": "6"}],
        scored_arguments=[
            {"step_id": "4", "argument_key": "date", **BOTH, "true_positive_count": 1},
            {"step_id": "6", "argument_key": "date", **BOTH, "decided_by": "judge"}
            | {"false_positive_count": 1, "false_negative_count": 1, "is_pattern_unchecked": True},
        ],
    )
    expect(
        "argument_scores",
        [
            {
                "label_tools": '["book"]',
                "argument_key": "date",
                "argument_count": 2,
                "key_true_positive_count": 2,
                "key_micro_f1": 1.0,
                "value_true_positive_count": 1,
                "value_false_positive_count": 1,
                "value_false_negative_count": 1,
                "value_precision": 0.5,
                "value_recall": 0.5,
                "value_micro_f1": 0.5,
                "judged_argument_count": 1,
                "judged_rate": 0.5,
                "unchecked_argument_count": 1,
            }
        ],
    )


def test_a_key_on_one_side_is_a_false_key(given, expect) -> None:
    given(
        scored_steps=[{**STEP, "step_id": "4"}],
        scored_arguments=[
            {"step_id": "4", "argument_key": "given", **BOTH, "label_values": None},
            {"step_id": "4", "argument_key": "wanted", **BOTH, "answer_values": None},
        ],
    )
    columns = ("argument_key", "key_false_positive_count", "key_false_negative_count")
    columns += ("key_precision", "key_recall", "key_micro_f1")
    rows = [("given", 1, 0, 0.0, None, 0.0), ("wanted", 0, 1, None, 0.0, 0.0)]
    expect("argument_scores", [dict(zip(columns, row, strict=True)) for row in rows])


def test_a_step_that_nobody_answered_keeps_its_arguments(given, expect) -> None:
    given(
        scored_steps=[{**STEP, "step_id": "4", "answer_position": None, "predicted": "failed"}],
        scored_arguments=[
            {"step_id": "4", "argument_key": "date", "label_values": '["x"]'}
            | {"false_negative_count": 1}
        ],
    )
    expect(
        "argument_scores",
        [
            {
                "argument_key": "date",
                "value_recall": 0.0,
                "value_precision": None,
                "judged_rate": 0.0,
            }
        ],
    )


def test_labels_with_other_tools_stand_apart(given, expect) -> None:
    given(
        scored_steps=[
            {**STEP, "step_id": "4"},
            {**STEP, "step_id": "6", "label_tools": '["book", "pay"]'},
        ],
        scored_arguments=[
            {"step_id": "4", "argument_key": "date", **BOTH},
            {"step_id": "6", "argument_key": "date", **BOTH},
        ],
    )
    expect(
        "argument_scores",
        [
            {"label_tools": '["book"]', "argument_key": "date", "argument_count": 1},
            {"label_tools": '["book", "pay"]', "argument_key": "date", "argument_count": 1},
        ],
    )


def test_nothing_called_is_nothing_to_count(given, expect) -> None:
    given(scored_steps=[{"is_call_scored": False}])
    expect("argument_scores", [])
