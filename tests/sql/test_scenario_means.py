def test_the_score_is_the_mean_of_the_three_parts(given, expect) -> None:
    given(
        scenarios=[{}],
        scored_steps=[
            {"is_call_scored": True, "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.0}
            | {"true_negative_reject_count": 1},
            {"actual": "AWAITING_USER_INPUT", "predicted": "failed"},
        ],
        scored_plans=[{"plan_similarity": 0.9}],
    )
    expect(
        "scenario_means",
        [
            {
                "right_decision_count": 1,
                "scored_step_count": 2,
                "decision_accuracy": 0.5,
                "file_call_f1": 0.5,
                "plan_similarity": 0.9,
                "part_sum": 1.9,
                "part_count": 3,
                "scenario_score": 1.9 / 3,
            }
        ],
    )


def test_parts_without_label_stay_out_even_where_a_profile_prints_zero(given, expect) -> None:
    given(
        rules={"undefined": "zero"},
        scenarios=[{"scenario": "1"}, {"scenario": "2"}],
        scored_plans=[{"scenario": "1", "plan_similarity": 0.9}],
    )
    columns = ("scenario", "decision_accuracy", "file_call_f1", "part_count", "scenario_score")
    rows = [("1", None, None, 1, 0.9), ("2", None, None, 0, None)]
    expect("scenario_means", [dict(zip(columns, row, strict=True)) for row in rows])
