def test_a_tool_is_wanted_called_or_both(given, expect) -> None:
    given(scored_steps=[{"label_tools": '["a", "b"]', "answer_tools": '["b", "c"]'}])
    expect(
        "step_tools",
        [
            {"tool": "a", "is_labelled": True, "is_answered": False},
            {"tool": "b", "is_labelled": True, "is_answered": True},
            {"tool": "c", "is_labelled": False, "is_answered": True},
        ],
    )


def test_an_answer_that_is_no_call_has_called_nothing(given, expect) -> None:
    rejected = {"predicted": "AWAITING_USER_INPUT", "answer_tools": '["b"]'}
    given(scored_steps=[{"label_tools": '["a"]', **rejected}])
    expect("step_tools", [{"tool": "a", "is_labelled": True, "is_answered": False}])


def test_two_answers_to_a_step_stay_apart(given, expect) -> None:
    given(
        scored_steps=[
            {"step_id": "4", "answer_position": 0, "answer_tools": '["a"]'},
            {"step_id": "4", "answer_position": 1, "label_tools": '["a"]'},
        ]
    )
    expect(
        "step_tools",
        [
            {"answer_position": 0, "tool": "a", "is_labelled": False, "is_answered": True},
            {"answer_position": 1, "tool": "a", "is_labelled": True, "is_answered": False},
        ],
    )


def test_what_is_not_scored_or_has_no_tools_has_no_rows(given, expect) -> None:
    given(scored_steps=[{"is_scored": False, "label_tools": '["a"]'}, {"label_tools": None}])
    expect("step_tools", [])
