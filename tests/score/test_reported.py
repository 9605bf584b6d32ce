"""Rows of an evaluator's result file as rows of `scenario_scores`."""

from typing import Any

import polars as pl

from orchbench_analytics.ingest.decode import ResultsDocument
from orchbench_analytics.ingest.flatten import flatten_results
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.score.group import reported_scores
from orchbench_analytics.tables import REPORTED_SCENARIOS

ROW: dict[str, Any] = {
    "file_path": "results/m/step_wise_evaluation_EN/m/12_out.json",
    "workflow_evaluation_with_failure": 0.5,
    "workflow_evaluation_without_failure": 0.625,
    "average_structural_GED": 0.75,
    "average_component_GED": 0.5,
    "failed_workflow_generation": 1,
    "total_comparison_steps_evaluated": 4,
    "arguments_key_score": 0.9429,
    "arguments_value_score_not_count_rejection": 0.9,
    "total_fc_successful_calls": 5.0,
    "total_rejection_cases": 3.0,
    "total_true_positive_reject": 2.0,
    "total_true_negative_reject": 5.0,
    "total_false_positive_reject": 1.0,
    "total_false_negative_reject": 1.0,
    "total_true_positive_fc": 5,
    "total_false_positive_fc": 1,
    "total_false_negative_fc": 1,
    "total_true_negative_fc": 2,
    "total_function_call_cases": 6.0,
    "function_name_accuracy": 1.0,
    "detail": {
        "arguments_detail": {"total_rejection_type_mismatch": 1, "total_failed_generation": 0}
    },
}


def scores_of(*results: dict[str, Any]) -> list[dict[str, Any]]:
    document = ResultsDocument(overall_statistics={}, detailed_results=list(results))
    key = {"model": "m", "experiment": "x", "language": "EN"}
    rows = flatten_results(key, document).rows["reported_scenarios"]
    figures = pl.DataFrame(rows, schema=polars_schema(REPORTED_SCENARIOS))
    return reported_scores(figures).to_dicts()


def test_every_figure_of_a_row_is_taken_as_it_is() -> None:
    (row,) = scores_of(ROW)
    wanted = {
        "profile": "reported",
        "model": "m",
        "scenario": "12",
        "call_label_count": 6,
        "rejection_label_count": 3,
        "call_scored_count": 5,
        "call_case_count": 6,
        "rejection_case_count": 3,
        "true_positive_reject_count": 2,
        "true_negative_reject_count": 5,
        "false_positive_reject_count": 1,
        "false_negative_reject_count": 1,
        "true_positive_call_count": 5,
        "true_negative_call_count": 2,
        "false_positive_call_count": 1,
        "false_negative_call_count": 1,
        "type_mismatch_count": 1,
        "failed_generation_count": 0,
        "name_f1": 1.0,
        "key_f1": 0.9429,
        "value_f1": 0.9,
        "plan_count": 4,
        "failed_plan_generation_count": 1,
        "plan_with_failure_count": 5,
        "plan_without_failure_count": 4,
        "plan_similarity": 0.5,
        "read_plan_similarity": 0.625,
        "plan_similarity_sum": 2.5,
        "structure_similarity": 0.75,
        "component_similarity": 0.5,
    }
    assert {name: row[name] for name in wanted} == wanted


def test_what_a_result_file_does_not_say_is_null() -> None:
    (row,) = scores_of(ROW)
    unknown = ("run_count", "failed_plan_count", "void_step_count", "surplus_answer_count")
    assert [row[name] for name in unknown] == [None] * 4
    (row,) = scores_of({name: value for name, value in ROW.items() if name != "detail"})
    assert row["type_mismatch_count"] is None


def test_a_row_that_the_evaluator_could_not_score_is_left_out() -> None:
    failed = {"file_path": "13_out.json", "error": "it broke"}
    assert [row["scenario"] for row in scores_of(ROW, failed)] == ["12"]
    assert scores_of(failed) == []
    assert scores_of() == []
