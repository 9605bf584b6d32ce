TYPED = "AWAITING_USER_INPUT"
RIGHT_CALL = {
    "actual": "call",
    "predicted": "call",
    "is_call_scored": True,
    "true_positive_call_count": 1,
    "true_negative_reject_count": 1,
}
RIGHT_REJECTION = {
    "actual": TYPED,
    "predicted": TYPED,
    "true_positive_reject_count": 1,
    "true_negative_call_count": 1,
}
FAILED_REJECTION = {
    "actual": TYPED,
    "predicted": "failed",
    "true_negative_call_count": 1,
    "failed_generation_count": 1,
}


def test_counts_are_summed_and_divided_last(given, expect) -> None:
    given(
        scored_steps=[
            {"agent_id": "taxi", **RIGHT_CALL},
            {"agent_id": "taxi", **RIGHT_CALL},
            {"agent_id": "taxi", "false_negative_call_count": 1, "false_positive_reject_count": 1},
            {"agent_id": "taxi", **RIGHT_REJECTION},
        ]
    )
    expect(
        "agent_scores",
        [
            {
                "agent_id": "taxi",
                "scored_step_count": 4,
                "right_decision_count": 3,
                "decision_accuracy": 0.75,
                "reject_precision": 0.5,
                "reject_recall": 1.0,
                "reject_f1": 2 / 3,
                "call_precision": 1.0,
                "call_recall": 2 / 3,
                "call_f1": 0.8,
            }
        ],
    )


def test_call_scores_are_means_over_call_scored_steps(given, expect) -> None:
    given(
        scored_steps=[
            {"agent_id": "taxi", **RIGHT_CALL, "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.0},
            {"agent_id": "taxi", **RIGHT_CALL, "name_f1": 1.0, "key_f1": 1.0, "value_f1": 1.0},
            {"agent_id": "taxi", **RIGHT_REJECTION},
        ]
    )
    expect(
        "agent_scores",
        [
            {
                "call_scored_count": 2,
                "key_f1_sum": 1.5,
                "mean_name_f1": 1.0,
                "mean_key_f1": 0.75,
                "mean_value_f1": 0.5,
                "mean_function_call_f1": 0.75,
            }
        ],
    )


def test_what_an_agent_never_does_is_undefined(given, expect) -> None:
    given(
        scored_steps=[{"agent_id": "taxi", **RIGHT_CALL}, {"agent_id": "poet", **RIGHT_REJECTION}]
    )
    expect(
        "agent_scores",
        [
            {"agent_id": "taxi", "reject_f1": None, "call_f1": 1.0, "reject_recall": None},
            {"agent_id": "poet", "reject_f1": 1.0, "call_f1": None, "reject_recall": 1.0},
        ],
    )
    expect("agent_scores", [{"mean_name_f1": None}, {"mean_name_f1": 0.0}])


def test_failing_every_rejection_is_zero_even_where_it_is_no_false_negative(given, expect) -> None:
    given(scored_steps=[{"agent_id": "taxi", **FAILED_REJECTION}])
    expect(
        "agent_scores",
        [{"reject_f1": 0.0, "reject_recall": None, "failed_generation_count": 1}],
    )


def test_a_step_without_agent_keeps_its_row(given, expect) -> None:
    given(scored_steps=[RIGHT_CALL])
    expect("agent_scores", [{"agent_id": None, "scored_step_count": 1}])
