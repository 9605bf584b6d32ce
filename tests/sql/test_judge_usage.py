def test_asked_usable_used_and_what_they_did(given, expect) -> None:
    step = {"answer_position": 0, "judge_index": 0, "is_call_scored": True}
    judged = {"step_id": "4", "answer_position": 0, "decided_by": "judge"}
    values = {"answer_values": '["a"]', "label_values": '["b"]'}
    given(
        judgements=[
            {"argument_key": "raised"},
            {"argument_key": "same"},
            {"argument_key": "unused"},
            {"argument_key": "unasked", "is_asked": False},
            {"argument_key": "e", "is_usable": False, "unusable_reason": "no_answer"},
            {"argument_key": "f", "is_usable": False, "unusable_reason": "no_object"},
            {"argument_key": "g", "is_usable": False, "unusable_reason": "no_key"},
            {"argument_key": "h", "is_usable": False, "unusable_reason": "no_counts"},
            {"is_asked": False, "is_usable": False, "unusable_reason": "surplus"},
            {"is_asked": False, "is_usable": False, "unusable_reason": "surplus"},
            {"is_asked": False, "is_usable": False, "unusable_reason": "cut_off"},
        ],
        scored_steps=[
            {"step_id": "4", **step, "value_true_positive_count": 1, "value_f1": 0.5}
            | {"value_false_positive_count": 1, "value_false_negative_count": 1},
        ],
        scored_arguments=[
            {"argument_key": "raised", **judged, **values, "true_positive_count": 1},
            {"argument_key": "same", **judged, **values}
            | {"false_positive_count": 1, "false_negative_count": 1},
        ],
    )
    expect(
        "judge_usage",
        [
            {
                "asked_key_count": 7,
                "answered_key_count": 3,
                "unasked_key_count": 1,
                "usable_key_count": 4,
                "used_key_count": 2,
                "unused_key_count": 2,
                "changed_key_count": 1,
                "raised_key_count": 1,
                "lowered_key_count": 0,
                "no_answer_count": 1,
                "no_object_count": 1,
                "no_key_count": 1,
                "no_verdict_count": 1,
                "surplus_verdict_count": 2,
                "cut_off_log_count": 1,
                "usable_rate": 3 / 7,
                "used_rate": 0.5,
                "changed_rate": 0.5,
            }
        ],
    )


def test_a_verdict_may_lower_a_score(given, expect) -> None:
    lowered = {"step_id": "4", "answer_position": 0, "argument_key": "k", "decided_by": "judge"}
    given(
        judgements=[{"argument_key": "k"}],
        scored_steps=[
            {"step_id": "4", "answer_position": 0, "judge_index": 0, "is_call_scored": True}
            | {"value_false_positive_count": 2, "value_false_negative_count": 2, "value_f1": 0.0}
        ],
        scored_arguments=[
            {**lowered, "answer_values": '["a", "b"]', "label_values": '["a", "c"]'}
            | {"false_positive_count": 2, "false_negative_count": 2}
        ],
    )
    expect("judge_usage", [{"raised_key_count": 0, "lowered_key_count": 1, "changed_rate": 1.0}])


def test_verdicts_that_were_never_usable_have_no_rates_of_use(given, expect) -> None:
    given(judgements=[{"is_usable": False, "unusable_reason": "no_object"}])
    expect("judge_usage", [{"usable_rate": 0.0, "used_rate": None, "changed_rate": None}])


def test_models_without_judge_logs_have_no_row(given, expect) -> None:
    given(scored_steps=[{}])
    expect("judge_usage", [])
