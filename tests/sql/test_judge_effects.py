STEP = {
    "step_id": "4",
    "answer_position": 0,
    "judge_index": 0,
    "is_call_scored": True,
    "value_true_positive_count": 3,
    "value_false_positive_count": 0,
    "value_false_negative_count": 0,
    "value_f1": 1.0,
}
JUDGED = {
    "step_id": "4",
    "answer_position": 0,
    "argument_key": "genre",
    "decided_by": "judge",
    "answer_values": '["talk", "news"]',
    "label_values": '["Talk Show", "news"]',
    "true_positive_count": 2,
}
COUNTS = ("compared_true_positive_count", "compared_false_positive_count")
COUNTS += ("compared_false_negative_count", "is_changed", "compared_value_f1", "value_f1_change")


def test_without_the_verdict_unmatched_values_count_as_compared(given, expect) -> None:
    given(scored_steps=[STEP], scored_arguments=[JUDGED])
    expect(
        "judge_effects",
        [
            {
                "argument_key": "genre",
                "true_positive_count": 2,
                "false_positive_count": 0,
                "false_negative_count": 0,
                "compared_true_positive_count": 1,
                "compared_false_positive_count": 1,
                "compared_false_negative_count": 1,
                "is_changed": True,
                "compared_value_true_positive_count": 2,
                "compared_value_false_positive_count": 1,
                "compared_value_false_negative_count": 1,
                "value_f1": 1.0,
                "compared_value_f1": 2 / 3,
                "value_f1_change": 1 / 3,
            }
        ],
    )


def test_where_verdicts_replace_all_counts_the_match_would_be_lost_without_one(
    given, expect
) -> None:
    given(rules={"verdict": "replaces_all"}, scored_steps=[STEP], scored_arguments=[JUDGED])
    row = (0, 1, 1, True, 2 / 4, 0.5)
    expect("judge_effects", [dict(zip(COUNTS, row, strict=True))])


def test_a_verdict_that_agrees_with_the_comparison_changes_nothing(given, expect) -> None:
    agreeing = {"true_positive_count": 1, "false_positive_count": 1, "false_negative_count": 1}
    value_counts = {f"value_{name}": count for name, count in agreeing.items()}
    given(
        scored_steps=[{**STEP, **value_counts, "value_f1": 0.5}],
        scored_arguments=[{**JUDGED, **agreeing}],
    )
    expect("judge_effects", [dict(zip(COUNTS, (1, 1, 1, False, 0.5, 0.0), strict=True))])


def test_values_are_sets(given, expect) -> None:
    repeated = {"answer_values": '["a", "a"]', "label_values": '["b", "c"]'}
    given(scored_steps=[STEP], scored_arguments=[{**JUDGED, **repeated}])
    expect(
        "judge_effects",
        [
            {"compared_true_positive_count": 0, "compared_false_positive_count": 1}
            | {"compared_false_negative_count": 2}
        ],
    )


def test_keys_that_were_compared_have_no_row(given, expect) -> None:
    given(scored_steps=[STEP], scored_arguments=[{**JUDGED, "decided_by": "compared"}])
    expect("judge_effects", [])
