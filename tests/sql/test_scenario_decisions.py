def test_scored_steps_are_counted_by_label_and_outcome(given, expect) -> None:
    given(
        scored_steps=[
            {"true_positive_call_count": 1, "true_negative_reject_count": 1}
            | {"is_call_scored": True},
            {"actual": "rejection", "predicted": "AWAITING_USER_INPUT", "is_type_mismatch": True}
            | {"true_positive_reject_count": 1, "true_negative_call_count": 1},
            {"actual": "rejection", "predicted": "failed", "failed_generation_count": 1}
            | {"true_negative_call_count": 1, "false_negative_reject_count": 1},
        ]
    )
    expect(
        "scenario_decisions",
        [
            {
                "call_label_count": 1,
                "rejection_label_count": 2,
                "call_scored_count": 1,
                "true_positive_reject_count": 1,
                "true_negative_reject_count": 1,
                "false_positive_reject_count": 0,
                "false_negative_reject_count": 1,
                "true_positive_call_count": 1,
                "true_negative_call_count": 2,
                "type_mismatch_count": 1,
                "failed_generation_count": 1,
            }
        ],
    )


def test_what_is_left_out_is_counted_by_reason_and_nowhere_else(given, expect) -> None:
    reasons = (
        "unusable_label",
        "surplus_answer",
        "unlabelled_answer",
        "unanswered_step",
        "void_file",
    )
    given(scored_steps=[{"is_scored": False, "left_out_reason": reason} for reason in reasons])
    expect(
        "scenario_decisions",
        [
            {
                "call_label_count": 0,
                "rejection_label_count": 0,
                "unusable_label_count": 1,
                "surplus_answer_count": 1,
                "unlabelled_answer_count": 1,
                "unanswered_step_count": 1,
                "void_step_count": 1,
            }
        ],
    )


def test_a_scenario_without_steps_has_no_row(given, expect) -> None:
    given(scenarios=[{}])
    expect("scenario_decisions", [])
