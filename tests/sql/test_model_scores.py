import pytest

CALL = {"is_call_scored": True, "name_f1": 1.0, "key_f1": 0.5, "value_f1": 0.3}
MISMATCH = {
    "actual": "AWAITING_USER_INPUT",
    "predicted": "TOOL_CONSTRAINT_VIOLATION",
    "is_type_mismatch": True,
    "true_positive_reject_count": 1,
    "true_negative_call_count": 1,
}
OVERACTION = {
    "actual": "AWAITING_USER_INPUT",
    "false_negative_reject_count": 1,
    "false_positive_call_count": 1,
}
# F1 of rejecting 0.0667 and of calling 0.8382, as in the example of the benchmark's document
WORKED_EXAMPLE = {
    "true_positive_reject_count": 667,
    "false_positive_reject_count": 9000,
    "false_negative_reject_count": 9666,
    "true_positive_call_count": 8382,
    "false_positive_call_count": 3000,
    "false_negative_call_count": 236,
}


def test_the_worked_example_of_the_document(given, expect) -> None:
    given(scenarios=[{}], scored_steps=[{"actual": "rejection", **WORKED_EXAMPLE}])
    expect(
        "model_scores",
        [{"reject_f1": 0.0667, "call_f1": 0.8382, "call_rejection_f1": 0.45245}],
    )


def test_the_worked_example_rounded_as_the_document_prints_it(given, tables) -> None:
    given(
        rules={"rounding": "four_digits"},
        scenarios=[{}],
        scored_steps=[{"actual": "rejection", **WORKED_EXAMPLE}],
    )
    found = tables.execute("select call_rejection_f1 from main.model_scores").fetchall()
    assert found == [(0.4524,)]


def test_every_file_weighs_the_same_in_calls_and_plans(given, expect) -> None:
    given(
        scenarios=[{"scenario": "1"}, {"scenario": "2"}],
        scored_steps=[
            {**CALL, "scenario": "1", "name_f1": 1.0},
            {**CALL, "scenario": "1", "name_f1": 1.0},
            {**CALL, "scenario": "2", "name_f1": 0.0},
        ],
        scored_plans=[
            {"scenario": "1", "plan_similarity": 1.0},
            {"scenario": "1", "plan_similarity": 1.0},
            {"scenario": "2", "plan_similarity": 0.5},
        ],
    )
    expect(
        "model_scores",
        [
            {
                "name_f1": 0.5,
                "function_call_f1": (0.5 + 0.5 + 0.3) / 3,
                "workflow_similarity": 0.75,
                "scored_file_count": 2,
            }
        ],
    )


def test_decisions_are_pooled_over_files(given, expect) -> None:
    right = {"true_positive_call_count": 1, "true_negative_reject_count": 1}
    given(
        scenarios=[{"scenario": "1"}, {"scenario": "2"}],
        scored_steps=[
            {"scenario": "1", **right},
            {"scenario": "1", **right},
            {"scenario": "2", **right},
            {"scenario": "2", "false_negative_call_count": 1, "false_positive_reject_count": 1},
        ],
    )
    expect(
        "model_scores",
        [
            {
                "call_precision": 1.0,
                "call_recall": 0.75,
                "call_f1": 6 / 7,
                "call_accuracy": 0.75,
                "reject_precision": 0.0,
                "reject_recall": None,
                "reject_f1": 0.0,
                "failed_call_rate": 0.25,
            }
        ],
    )


def test_a_file_without_calls_stays_out_of_the_mean(given, expect) -> None:
    given(
        scenarios=[{"scenario": "1"}, {"scenario": "2"}],
        scored_steps=[{**CALL, "scenario": "1", "name_f1": 1.0}],
    )
    expect("model_scores", [{"name_f1": 1.0, "scored_file_count": 2}])


def test_undefined_zero_takes_it_in_as_zero(given, expect) -> None:
    given(
        rules={"undefined": "zero"},
        scenarios=[{"scenario": "1"}, {"scenario": "2"}],
        scored_steps=[{**CALL, "scenario": "1", "name_f1": 1.0}],
    )
    expect(
        "model_scores",
        [{"name_f1": 0.5, "reject_f1": 0.0, "workflow_similarity": 0.0, "reject_precision": None}],
    )


def test_the_average_is_over_the_metrics_that_are_defined(given, expect) -> None:
    given(
        scenarios=[{}],
        scored_plans=[{"plan_similarity": 0.5}],
        scored_steps=[{**CALL, "true_positive_call_count": 1}],
    )
    expect(
        "model_scores",
        [
            {
                "call_rejection_f1": 1.0,
                "function_call_f1": 0.6,
                "workflow_similarity": 0.5,
                "average_score": 0.7,
            }
        ],
    )


def test_nothing_scored_is_undefined_and_not_zero(given, expect) -> None:
    given(scenarios=[{}])
    scores = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")
    expect("model_scores", [dict.fromkeys(scores, None)])


def test_failing_every_rejection_is_a_zero_not_undefined(given, expect) -> None:
    failed = {"actual": "rejection", "predicted": "failed", "true_negative_call_count": 1}
    given(scenarios=[{}], scored_steps=[failed])
    expect("model_scores", [{"reject_f1": 0.0, "call_f1": None, "call_rejection_f1": 0.0}])


def test_mismatches_are_summed_and_are_errors(given, expect) -> None:
    given(scenarios=[{}], scored_steps=[MISMATCH, OVERACTION, {**MISMATCH, "step_id": "9"}])
    expect(
        "model_scores",
        [
            {
                "type_mismatch_count": 2,
                "error_count": 3,
                "overaction_rate": 1 / 3,
                "underaction_rate": 0.0,
                "type_mismatch_rate": 2 / 3,
                "rejection_type_accuracy": 0.0,
            }
        ],
    )


def test_mismatch_totals_zero_prints_none_of_them(given, expect) -> None:
    failed = {"predicted": "failed", "failed_generation_count": 1, "false_negative_call_count": 1}
    given(rules={"mismatch_totals": "zero"}, scenarios=[{}], scored_steps=[MISMATCH, failed])
    expect(
        "model_scores",
        [
            {
                "type_mismatch_count": 0,
                "failed_generation_count": 0,
                "rejection_type_accuracy": 1.0,
                "error_count": 1,
            }
        ],
    )


def test_error_total_without_mismatches_counts_decisions_only(given, expect) -> None:
    given(
        rules={"error_total": "without_mismatches"},
        scenarios=[{}],
        scored_steps=[MISMATCH, OVERACTION],
    )
    expect("model_scores", [{"error_count": 1, "overaction_rate": 1.0, "type_mismatch_rate": 1.0}])


def test_rounding_four_digits_rounds_headlines_and_averages_the_rounded(given, tables) -> None:
    given(
        rules={"rounding": "four_digits"},
        scenarios=[{}],
        scored_steps=[{**CALL, "key_f1": 0.0, "value_f1": 0.0}],
        scored_plans=[{"plan_similarity": 2 / 3}],
    )
    columns = "function_call_f1, workflow_similarity, average_score, plan_similarity"
    found = tables.execute(f"select {columns} from main.model_scores").fetchall()
    assert found == [(0.3333, 0.6667, 0.5, 2 / 3)]


@pytest.mark.parametrize(
    ("case_totals", "rate"), [("by_label", 0.5), ("by_call_key", 3 / 4)], ids=str
)
def test_case_totals_decide_the_rate_of_failed_calls(given, expect, case_totals, rate) -> None:
    given(
        rules={"case_totals": case_totals},
        scenarios=[{"step_count": 5, "call_key_count": 4}],
        scored_steps=[{"true_negative_reject_count": 1}, {"predicted": "failed"}],
    )
    expect("model_scores", [{"failed_call_rate": rate}])


def test_refused_files_are_counted_but_duplicates_are_not(given, expect) -> None:
    place = {"model": "m", "experiment": "x", "language": "EN", "kind": "runs"}
    given(
        scenarios=[{}],
        sources=[
            {**place, "status": "taken"},
            {**place, "status": "refused", "reason": "not_json"},
            {**place, "status": "refused", "reason": "duplicate"},
            {**place, "status": "refused", "reason": "not_json", "kind": "judge_log"},
        ],
    )
    expect("model_scores", [{"file_count": 2, "scored_file_count": 1, "refused_file_count": 1}])
