"""The seed's result JSON, from our views: same nesting, same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.profiles import Profile

Row = dict[str, Any]
Rounding = Callable[[float | None], float]

# The seed's name of each figure of a scenario, and our column.
SCENARIO_FIGURES = {
    "workflow_evaluation_with_failure": "plan_similarity",
    "workflow_evaluation_without_failure": "read_plan_similarity",
    "average_structural_GED": "structure_similarity",
    "average_component_GED": "component_similarity",
    "failed_workflow_generation": "failed_plan_generation_count",
    "total_comparison_steps_evaluated": "plan_count",
    "arguments_key_score": "key_f1",
    "arguments_value_score_not_count_rejection": "value_f1",
    "total_fc_successful_calls": "true_negative_reject_count",
    "total_rejection_cases": "rejection_case_count",
    "total_true_positive_reject": "true_positive_reject_count",
    "total_true_negative_reject": "true_negative_reject_count",
    "total_false_positive_reject": "false_positive_reject_count",
    "total_false_negative_reject": "false_negative_reject_count",
    "total_true_positive_fc": "true_positive_call_count",
    "total_false_positive_fc": "false_positive_call_count",
    "total_false_negative_fc": "false_negative_call_count",
    "total_true_negative_fc": "true_negative_call_count",
    "total_function_call_cases": "call_case_count",
    "function_name_accuracy": "name_f1",
}
CONFUSION_FIGURES = {
    "total_true_positive_reject": "true_positive_reject_count",
    "total_true_negative_reject": "true_negative_reject_count",
    "total_false_positive_reject": "false_positive_reject_count",
    "total_false_negative_reject": "false_negative_reject_count",
    "total_true_positive_fc": "true_positive_call_count",
    "total_false_positive_fc": "false_positive_call_count",
    "total_false_negative_fc": "false_negative_call_count",
    "total_true_negative_fc": "true_negative_call_count",
}


def result_document(
    connection: duckdb.DuckDBPyConnection,
    profile: Profile,
    *,
    model: str,
    experiment: str,
    language: str,
) -> Row:
    """One model's results in one language, in the seed's format."""
    key = {
        "profile": profile.name,
        "model": model,
        "experiment": experiment,
        "language": language,
    }
    where = "profile = $profile and model = $model and experiment = $experiment"
    where += " and language = $language"
    scores = _rows(connection, f"select * from main.model_scores where {where}", key)
    if not scores:
        raise SelectionError(
            f"no scores of {model} / {experiment} / {language} under {profile.name}"
        )
    del key["profile"]
    scenarios = _rows(
        connection,
        """
        select scores.*, sources.path as file_path
        from main.scenario_scores as scores
        left join main.sources as sources
            on sources.kind = 'runs' and sources.status = 'taken'
            and sources.model = scores.model and sources.experiment = scores.experiment
            and sources.language = scores.language and sources.scenario = scores.scenario
        where scores.profile = $profile and scores.model = $model
            and scores.experiment = $experiment and scores.language = $language
        order by scores.scenario
        """,
        {"profile": profile.name, **key},
    )
    refused = _rows(
        connection,
        """
        select path, scenario, reason, message from main.sources
        where kind = 'runs' and status = 'refused' and reason <> 'duplicate'
            and model = $model and experiment = $experiment and language = $language
        order by path
        """,
        key,
    )
    # The public evaluator rounds on its way and prints the rest as it is; we round at the end.
    finish = _plain if profile.rounding == "four_digits" else _rounded
    return {
        "directory": _directory(scenarios),
        "overall_statistics": overall_statistics(scores[0], finish),
        "detailed_results": [
            *(_scenario_result(row, finish) for row in scenarios),
            *(
                {
                    "file_path": r["path"],
                    "scenario": r["scenario"],
                    "error": f"{r['reason']}: {r['message']}",
                }
                for r in refused
            ),
        ],
    }


def overall_statistics(scores: Row, decisions: Rounding) -> Row:
    """The seed's `overall_statistics` from a row of `model_scores`; undefined ratios print 0."""
    return {
        "total_files": scores["file_count"],
        "successful_evaluations": scores["scored_file_count"],
        "failed_evaluations": scores["refused_file_count"],
        "total_failed_workflow_generation": scores["failed_plan_generation_count"],
        "total_comparison_steps_evaluated": scores["plan_count"],
        "key_metrics": {
            "Average": _rounded(scores["average_score"]),
            "Call Rejection Classification Accuracy": _rounded(scores["call_rejection_f1"]),
            "FC": _rounded(scores["function_call_f1"]),
            "Plan": _rounded(scores["workflow_similarity"]),
        },
        "score_details": {
            "workflow_scores": {
                "workflow_evaluation_with_failure": _rounded(scores["plan_similarity"]),
                "workflow_evaluation_without_failure": _rounded(scores["read_plan_similarity"]),
                "average_structural_GED": _rounded(scores["structure_similarity"]),
                "average_component_GED": _rounded(scores["component_similarity"]),
            },
            "function_call_scores": {
                "function_name_accuracy": _rounded(scores["name_f1"]),
                "arguments_key_score": _rounded(scores["key_f1"]),
                "arguments_value_score_not_count_rejection": _rounded(scores["value_f1"]),
                "overall_function_call_failed_rate": _rounded(scores["failed_call_rate"]),
                "total_fc_successful_calls": scores["true_negative_reject_count"],
                "total_function_call_cases": scores["call_case_count"],
            },
            "call_rejection_scores": {
                "total_rejection_cases": scores["rejection_case_count"],
                "reject_decision_performance": _performance(scores, "reject", decisions),
                "fc_decision_performance": _performance(scores, "call", decisions),
                "error_patterns": {
                    name: decisions(scores[name])
                    for name in ("overaction_rate", "underaction_rate", "type_mismatch_rate")
                },
                "rejection_type_accuracy": decisions(scores["rejection_type_accuracy"]),
                "total_rejection_type_mismatch": scores["type_mismatch_count"],
                "total_failed_generation": scores["failed_generation_count"],
            },
            "raw_confusion_matrix": {
                name: scores[column] for name, column in CONFUSION_FIGURES.items()
            },
        },
    }


def _scenario_result(row: Row, round_score: Rounding) -> Row:
    figures = {
        name: row[column] if column.endswith("_count") else round_score(row[column])
        for name, column in SCENARIO_FIGURES.items()
    }
    return {"file_path": row["file_path"], "scenario": row["scenario"], **figures}


def _performance(scores: Row, side: str, decisions: Rounding) -> Row:
    names = ("precision", "recall", "f1", "accuracy")
    return {name: decisions(scores[f"{side}_{name}"]) for name in names}


def _directory(scenarios: list[Row]) -> str:
    paths = [row["file_path"] for row in scenarios if row["file_path"]]
    return str(paths[0]).rpartition("/")[0] if paths else ""


def _rows(connection: duckdb.DuckDBPyConnection, query: str, parameters: Row) -> list[Row]:
    result = connection.execute(query, parameters)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _rounded(value: float | None) -> float:
    return 0.0 if value is None else round(value, 4)


def _plain(value: float | None) -> float:
    return 0.0 if value is None else value
