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


SCORED = {"is_call_scored": True}


def test_scored_steps_are_counted_by_label_and_outcome(given, expect) -> None:
    given(
        scenarios=[{}],
        scored_steps=[
            {"true_positive_call_count": 1, "true_negative_reject_count": 1}
            | {"is_call_scored": True},
            {"actual": "rejection", "predicted": "AWAITING_USER_INPUT", "is_type_mismatch": True}
            | {"true_positive_reject_count": 1, "true_negative_call_count": 1},
            {"actual": "rejection", "predicted": "failed", "failed_generation_count": 1}
            | {"true_negative_call_count": 1, "false_negative_reject_count": 1},
        ],
    )
    expect(
        "scenario_scores",
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
    given(
        scenarios=[{}],
        scored_steps=[{"is_scored": False, "left_out_reason": reason} for reason in reasons],
    )
    expect(
        "scenario_scores",
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


def test_the_score_of_a_run_is_the_mean_of_its_call_scored_steps(given, expect) -> None:
    given(
        scenarios=[{}],
        scored_steps=[
            {**SCORED, "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.0},
            {**SCORED, "name_f1": 0.0, "key_f1": 0.5, "value_f1": 0.5},
            {"actual": "rejection", "predicted": "AWAITING_USER_INPUT"},
        ],
    )
    expect(
        "scenario_scores",
        [
            {
                "call_label_count": 2,
                "call_scored_count": 2,
                "name_f1": 0.5,
                "key_f1": 0.5,
                "value_f1": 0.25,
            }
        ],
    )


def test_calls_that_were_all_rejected_are_zero(given, expect) -> None:
    given(scenarios=[{}], scored_steps=[{"actual": "call", "predicted": "AWAITING_USER_INPUT"}])
    expect("scenario_scores", [{"call_label_count": 1, "call_scored_count": 0, "name_f1": 0.0}])


def test_a_file_without_call_labels_has_no_call_scores(given, expect) -> None:
    given(scenarios=[{}], scored_steps=[{"actual": "rejection"}, {"is_scored": False}])
    expect("scenario_scores", [{"call_run_count": 0, "name_f1": None}])


def test_run_mean_all_runs_keeps_a_run_without_call_labels(given, expect) -> None:
    given(rules={"run_mean": "all_runs"}, scenarios=[{}], scored_steps=[{"actual": "rejection"}])
    expect("scenario_scores", [{"call_label_count": 0, "name_f1": 0.0, "value_f1": 0.0}])


def test_value_mean_positive_only_leaves_out_the_zeros(given, expect) -> None:
    given(
        rules={"value_mean": "positive_only"},
        scenarios=[{}],
        scored_steps=[
            {**SCORED, "name_f1": 0.0, "value_f1": 0.0},
            {**SCORED, "name_f1": 1.0, "value_f1": 0.5},
        ],
    )
    expect("scenario_scores", [{"name_f1": 0.5, "value_f1": 0.5}])


def test_a_file_is_the_mean_of_its_runs(given, expect) -> None:
    given(
        scenarios=[{"run_count": 3}],
        scored_steps=[
            {**SCORED, "run": "run #1", "name_f1": 1.0, "key_f1": 1.0, "value_f1": 1.0},
            {**SCORED, "run": "run #1", "name_f1": 0.0, "key_f1": 0.0, "value_f1": 0.0},
            {**SCORED, "run": "run #2", "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.0},
            {"run": "run #3", "actual": "rejection"},
        ],
    )
    expect(
        "scenario_scores",
        [{"call_run_count": 2, "name_f1": 0.75, "key_f1": 0.5, "value_f1": 0.25}],
    )


def test_run_mean_all_runs_divides_by_every_run_of_the_document(given, expect) -> None:
    given(
        rules={"run_mean": "all_runs"},
        scenarios=[{"run_count": 4}],
        scored_steps=[{**SCORED, "name_f1": 1.0, "key_f1": 1.0, "value_f1": 0.5}],
    )
    expect("scenario_scores", [{"call_run_count": 4, "name_f1": 0.25, "value_f1": 0.125}])


def test_rounding_four_digits_rounds_runs_and_then_the_file(given, tables) -> None:
    thirds = [
        {**SCORED, "run": f"run #{n}", "name_f1": n / 3, "key_f1": 0.0, "value_f1": n / 3}
        for n in (1, 2)
    ]
    given(rules={"rounding": "four_digits"}, scenarios=[{"run_count": 2}], scored_steps=thirds)
    found = tables.execute("select name_f1, value_f1 from main.scenario_scores").fetchall()
    assert found == [(0.5, 0.5)]


def test_ties_of_rounding_go_to_the_even_digit(given, tables) -> None:
    halves = [{**SCORED, "run": f"run #{n}", "value_f1": f1} for n, f1 in enumerate((0.0, 0.03125))]
    given(rules={"rounding": "four_digits"}, scenarios=[{"run_count": 2}], scored_steps=halves)
    assert tables.execute("select value_f1 from main.scenario_scores").fetchall() == [(0.0156,)]


READ = {"plan_similarity": 0.8, "structure_similarity": 1.0, "component_similarity": 0.6}
FAILED = {
    "is_failed": True,
    "failed_generation_count": 1,
    "plan_similarity": 0.0,
    "structure_similarity": 0.0,
    "component_similarity": 0.0,
}


def test_failed_plans_are_zero_and_read_ones_have_a_mean_of_their_own(given, expect) -> None:
    given(
        scenarios=[{}],
        scored_plans=[READ, FAILED, {**READ, "is_ged_exact": False}, {"is_scored": False}],
    )
    expect(
        "scenario_scores",
        [
            {
                "plan_count": 3,
                "failed_plan_count": 1,
                "failed_plan_generation_count": 1,
                "plan_similarity_sum": 1.6,
                "plan_with_failure_count": 3,
                "plan_similarity": 1.6 / 3,
                "plan_without_failure_count": 2,
                "read_plan_similarity": 0.8,
                "structure_similarity": 2 / 3,
                "component_similarity": 0.4,
                "inexact_plan_count": 1,
                "left_out_plan_count": 1,
            }
        ],
    )


def test_where_all_failed_the_mean_without_failure_is_undefined(given, expect) -> None:
    given(scenarios=[{}], scored_plans=[FAILED])
    expect("scenario_scores", [{"plan_similarity": 0.0, "read_plan_similarity": None}])


def test_where_nothing_is_scored_every_mean_is_undefined(given, expect) -> None:
    given(scenarios=[{}], scored_plans=[{"is_scored": False}])
    expect(
        "scenario_scores",
        [{"plan_count": 0, "plan_similarity": None, "structure_similarity": None}],
    )


def test_failed_plan_per_entry_counts_failures_again_below(given, expect) -> None:
    twice = {**FAILED, "failed_generation_count": 2}
    given(rules={"failed_plan": "per_entry"}, scenarios=[{}], scored_plans=[READ, twice])
    expect("scenario_scores", [{"plan_with_failure_count": 4, "plan_similarity": 0.2}])


def test_without_failure_includes_failed_divides_by_all_plans(given, expect) -> None:
    given(rules={"without_failure": "includes_failed"}, scenarios=[{}], scored_plans=[READ, FAILED])
    expect(
        "scenario_scores",
        [{"plan_without_failure_count": 2, "read_plan_similarity": 0.4}],
    )


# In floating point the sum of these depends on their order; their names sort in another.
RUNS = [("run #2", 0.1), ("run #10", 0.2), ("run #1", 0.3)]


def runs_in_order() -> list[dict[str, object]]:
    return [
        {**SCORED, "run": run, "run_position": place, "name_f1": f1}
        for place, (run, f1) in enumerate(RUNS)
    ]


def test_runs_are_added_exactly(given, tables) -> None:
    given(scenarios=[{"run_count": 3}], scored_steps=runs_in_order())
    assert tables.execute("select name_f1 from main.scenario_scores").fetchall() == [(0.6 / 3,)]


def test_addition_in_order_adds_runs_as_the_document_has_them(given, tables) -> None:
    given(
        rules={"addition": "in_order"},
        scenarios=[{"run_count": 3}],
        scored_steps=runs_in_order()[::-1],
    )
    found = tables.execute("select name_f1 from main.scenario_scores").fetchall()
    assert found == [((0.1 + 0.2 + 0.3) / 3,)]
    assert 0.1 + 0.2 + 0.3 not in (0.3 + 0.2 + 0.1, 0.6)


def test_addition_in_order_adds_steps_in_the_order_of_answers(given, tables) -> None:
    steps = [
        {**SCORED, "answer_position": place, "name_f1": 0.0, "value_f1": f1}
        for place, f1 in ((2, 0.3), (1, 0.2), (0, 0.1))
    ]
    given(rules={"addition": "in_order"}, scenarios=[{}], scored_steps=steps)
    found = tables.execute("select value_f1 from main.scenario_scores").fetchall()
    assert found == [((0.1 + 0.2 + 0.3) / 3,)]
    assert (0.1 + 0.2) + 0.3 != (0.3 + 0.2) + 0.1
