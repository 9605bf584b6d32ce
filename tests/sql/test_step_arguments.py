STEP = {"is_call_scored": True, "agent_id": "travel", "label_tools": '["book"]'}
DATE = {"argument_key": "date", "label_values": '["x"]', "false_negative_count": 1}


def test_an_argument_stands_beside_its_step(given, expect) -> None:
    given(
        scored_steps=[{**STEP, "step_id": "4", "answer_position": 0, "value_f1": 0.5}],
        scored_arguments=[
            {"step_id": "4", "answer_position": 0, **DATE},
            {"step_id": "4", "answer_position": 0, "argument_key": "who", "true_positive_count": 1},
        ],
    )
    same = {"agent_id": "travel", "value_f1": 0.5}
    expect(
        "step_arguments",
        [
            {**same, "argument_key": "date", "true_positive_count": 0, "false_negative_count": 1},
            {**same, "argument_key": "who", "true_positive_count": 1, "false_negative_count": 0},
        ],
    )


def test_a_step_that_nobody_answered_keeps_its_arguments(given, expect) -> None:
    given(
        scored_steps=[{**STEP, "step_id": "4", "answer_position": None, "predicted": "failed"}],
        scored_arguments=[{"step_id": "4", "answer_position": None, **DATE}],
    )
    expect("step_arguments", [{"predicted": "failed", "argument_key": "date"}])


def test_a_step_without_arguments_has_a_row(given, expect) -> None:
    given(scored_steps=[{"actual": "REJECT", "predicted": "call"}])
    expect("step_arguments", [{"actual": "REJECT", "argument_key": None, "decided_by": None}])


def test_profiles_and_answers_stay_apart(given, expect) -> None:
    given(
        scored_steps=[
            {"step_id": "4", "answer_position": position, "profile": profile}
            for profile in ("spec", "strict")
            for position in (0, 1)
        ],
        scored_arguments=[{"step_id": "4", "answer_position": 1, "profile": "strict", **DATE}],
    )
    expect(
        "step_arguments",
        [
            {"profile": "spec", "answer_position": 0, "argument_key": None},
            {"profile": "spec", "answer_position": 1, "argument_key": None},
            {"profile": "strict", "answer_position": 0, "argument_key": None},
            {"profile": "strict", "answer_position": 1, "argument_key": "date"},
        ],
    )
