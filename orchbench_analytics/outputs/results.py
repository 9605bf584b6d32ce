"""The seed's result JSON, from our views: same nesting, same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.profiles import Profile

Row = dict[str, Any]
Rounding = Callable[[float | None], float]

# The cells of the confusion matrix from either perspective, in the order of the seed.
_CELLS = {
    "reject": ("true_positive", "true_negative", "false_positive", "false_negative"),
    "fc": ("true_positive", "false_positive", "false_negative", "true_negative"),
}
# Decisions are printed as they are under `upstream`, all other scores to four digits.
_DECISIONS = "score_details.call_rejection_scores"


def _metrics(section: str, *columns: str) -> dict[str, str]:
    """Metrics by their place in the seed's JSON: a section, and the name the seed has for them."""
    prefix = f"{section}." if section else ""
    return {f"{prefix}{METRICS[column].seed_names[0]}": column for column in columns}


def _confusion(section: str) -> dict[str, str]:
    """The counts of the confusion matrix by their place in the seed's JSON."""
    prefix = f"{section}." if section else ""
    return {
        f"{prefix}total_{cell}_{perspective}": f"{cell}_{ours}_count"
        for perspective, ours in (("reject", "reject"), ("fc", "call"))
        for cell in _CELLS[perspective]
    }


# The place of each figure in the seed's `overall_statistics`, and our column in `model_scores`.
OVERALL_FIGURES = {
    "total_files": "file_count",
    "successful_evaluations": "scored_file_count",
    "failed_evaluations": "refused_file_count",
    "total_failed_workflow_generation": "failed_plan_generation_count",
    "total_comparison_steps_evaluated": "plan_count",
    **_metrics("key_metrics", *HEADLINE),
    "score_details.workflow_scores.workflow_evaluation_with_failure": "plan_similarity",
    "score_details.workflow_scores.workflow_evaluation_without_failure": "read_plan_similarity",
    **_metrics("score_details.workflow_scores", "structure_similarity", "component_similarity"),
    **_metrics("score_details.function_call_scores", "name_f1", "key_f1", "value_f1"),
    "score_details.function_call_scores.overall_function_call_failed_rate": "failed_call_rate",
    "score_details.function_call_scores.total_fc_successful_calls": "true_negative_reject_count",
    "score_details.function_call_scores.total_function_call_cases": "call_case_count",
    f"{_DECISIONS}.total_rejection_cases": "rejection_case_count",
    **_metrics(_DECISIONS, "reject_precision", "reject_recall", "reject_f1"),
    f"{_DECISIONS}.reject_decision_performance.accuracy": "reject_accuracy",
    **_metrics(_DECISIONS, "call_precision", "call_recall", "call_f1"),
    f"{_DECISIONS}.fc_decision_performance.accuracy": "call_accuracy",
    f"{_DECISIONS}.error_patterns.overaction_rate": "overaction_rate",
    f"{_DECISIONS}.error_patterns.underaction_rate": "underaction_rate",
    f"{_DECISIONS}.error_patterns.type_mismatch_rate": "type_mismatch_rate",
    f"{_DECISIONS}.rejection_type_accuracy": "rejection_type_accuracy",
    f"{_DECISIONS}.total_rejection_type_mismatch": "type_mismatch_count",
    f"{_DECISIONS}.total_failed_generation": "failed_generation_count",
    **_confusion("score_details.raw_confusion_matrix"),
}
# The name of each figure in the seed's `detailed_results`, and our column in `scenario_scores`.
SCENARIO_FIGURES = {
    "workflow_evaluation_with_failure": "plan_similarity",
    "workflow_evaluation_without_failure": "read_plan_similarity",
    **_metrics("", "structure_similarity", "component_similarity"),
    "failed_workflow_generation": "failed_plan_generation_count",
    "total_comparison_steps_evaluated": "plan_count",
    **_metrics("", "key_f1", "value_f1"),
    "total_fc_successful_calls": "true_negative_reject_count",
    "total_rejection_cases": "rejection_case_count",
    **_confusion(""),
    "total_function_call_cases": "call_case_count",
    **_metrics("", "name_f1"),
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
    key = {"model": model, "experiment": experiment, "language": language}
    under_profile = {"profile": profile.name, **key}
    scores = _rows(
        connection,
        """
        select * from main.model_scores
        where profile = $profile and model = $model and experiment = $experiment
            and language = $language
        """,
        under_profile,
    )
    if not scores:
        raise SelectionError(
            f"no scores of {model} / {experiment} / {language} under {profile.name}"
        )
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
        under_profile,
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
    statistics: Row = {}
    for path, column in OVERALL_FIGURES.items():
        *sections, name = path.split(".")
        section = statistics
        for outer in sections:
            section = section.setdefault(outer, {})
        finish = decisions if path.startswith(_DECISIONS) else _rounded
        section[name] = _printed(scores[column], column, finish)
    return statistics


def is_rounded(path: str) -> bool:
    """Whether `upstream` prints a figure of `overall_statistics` to four digits."""
    return not path.startswith(_DECISIONS) and not OVERALL_FIGURES[path].endswith("_count")


def _scenario_result(row: Row, finish: Rounding) -> Row:
    figures = {
        name: _printed(row[column], column, finish) for name, column in SCENARIO_FIGURES.items()
    }
    return {"file_path": row["file_path"], "scenario": row["scenario"], **figures}


def _printed(value: Any, column: str, finish: Rounding) -> Any:
    """Counts as they are, scores as they are to be printed."""
    return value if column.endswith("_count") else finish(value)


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
