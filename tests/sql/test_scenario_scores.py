CALL = {"is_call_scored": True, "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.25}


def test_decisions_calls_and_plans_of_a_file_stand_in_one_row(given, expect) -> None:
    given(
        scenarios=[{"run_count": 2}],
        scored_steps=[{**CALL, "true_positive_call_count": 1, "true_negative_reject_count": 1}],
        scored_plans=[{"plan_similarity": 0.8, "structure_similarity": 1.0}],
    )
    expect(
        "scenario_scores",
        [
            {
                "run_count": 2,
                "call_label_count": 1,
                "true_positive_call_count": 1,
                "call_run_count": 1,
                "name_f1": 1.0,
                "value_f1": 0.25,
                "plan_count": 1,
                "plan_similarity": 0.8,
                "structure_similarity": 1.0,
            }
        ],
    )


def test_a_file_with_nothing_in_it_has_counts_of_zero_and_no_scores(given, expect) -> None:
    given(scenarios=[{}])
    expect(
        "scenario_scores",
        [
            {
                "call_label_count": 0,
                "plan_count": 0,
                "name_f1": None,
                "value_f1": None,
                "plan_similarity": None,
                "read_plan_similarity": None,
            }
        ],
    )


def test_undefined_zero_turns_what_is_undefined_into_zero(given, expect) -> None:
    given(rules={"undefined": "zero"}, scenarios=[{}])
    expect(
        "scenario_scores",
        [{"name_f1": 0.0, "value_f1": 0.0, "plan_similarity": 0.0, "read_plan_similarity": 0.0}],
    )


def test_cases_go_by_scored_labels(given, expect) -> None:
    given(
        scenarios=[{"step_count": 9, "call_key_count": 5}],
        scored_steps=[CALL, {"actual": "rejection"}, {"is_scored": False}],
    )
    expect("scenario_scores", [{"call_case_count": 1, "rejection_case_count": 1}])


def test_case_totals_by_call_key_go_by_the_document(given, expect) -> None:
    given(
        rules={"case_totals": "by_call_key"},
        scenarios=[{"step_count": 9, "call_key_count": 5}],
        scored_steps=[CALL],
    )
    expect("scenario_scores", [{"call_case_count": 5, "rejection_case_count": 4}])


def test_a_void_file_has_no_cases(given, expect) -> None:
    given(
        rules={"case_totals": "by_call_key"},
        scenarios=[{"step_count": 9, "call_key_count": 5}],
        scored_steps=[{"is_scored": False, "left_out_reason": "void_file"}],
    )
    expect(
        "scenario_scores",
        [{"void_step_count": 1, "call_case_count": 0, "rejection_case_count": 0}],
    )
