"""Every metric: its column, the names people and the seed have for it, its formula, its meaning.

A formula is a ratio of additive terms or a mean of other metrics. A term is a column of
`scenario_scores`, or made from one, that may be summed over scenarios: so any weighting of them
(a resample, a permutation, a leave-one-out) gives every metric at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from orchbench_analytics.errors import SelectionError, suggest


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of sums of terms, each with its factor; undefined if the denominator is 0.

    `defined_by` names terms that make it 0 instead of undefined if the denominator is 0.
    """

    numerator: Mapping[str, float]
    denominator: Mapping[str, float]
    defined_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of other metrics: of those that are defined, or of all or none."""

    of: tuple[str, ...]
    needs_all: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """What people see, what it is, how it is formed, and what the seed's files call it.

    The first of the seed's names is the one under which its JSON prints the metric.
    """

    label: str
    description: str
    formula: Ratio | Mean
    seed_names: tuple[str, ...]


def _file_mean(column: str) -> Ratio:
    """The mean over the files in which the column is defined."""
    return Ratio({f"{column}_sum": 1}, {f"{column}_file_count": 1})


_KINDS = ("true_positive", "false_positive", "false_negative")
_TP_REJECT, _FP_REJECT, _FN_REJECT = (f"{kind}_reject_count" for kind in _KINDS)
_TP_CALL, _FP_CALL, _FN_CALL = (f"{kind}_call_count" for kind in _KINDS)
_LABELS = "rejection_label_count"
_REJECTING, _CALLING = "reject_decision_performance", "fc_decision_performance"

METRICS: dict[str, Metric] = {
    "average_score": Metric(
        "Average",
        "Mean of the defined among Call/Reject, FC and Plan, 0 to 1; null where none is.",
        Mean(("call_rejection_f1", "function_call_f1", "workflow_similarity")),
        ("Average",),
    ),
    "call_rejection_f1": Metric(
        "Call/Reject",
        "Mean of the defined among reject_f1 and call_f1, 0 to 1; null where neither is.",
        Mean(("reject_f1", "call_f1")),
        ("Call Rejection Classification Accuracy", "Call Rejection"),
    ),
    "function_call_f1": Metric(
        "FC",
        "Mean of name_f1, key_f1 and value_f1, 0 to 1; null where they are.",
        Mean(("name_f1", "key_f1", "value_f1"), needs_all=True),
        ("FC",),
    ),
    "workflow_similarity": Metric(
        "Plan",
        "Similarity of plans to their labels, failed ones as 0: mean over files, 0 to 1.",
        _file_mean("plan_similarity"),
        ("Plan", "workflow_evaluation_with_failure", "plan_similarity"),
    ),
    "reject_f1": Metric(
        "Reject F1",
        "F1 of rejecting, 0 to 1; null with neither labels nor predictions.",
        Ratio(
            {_TP_REJECT: 2},
            {_TP_REJECT: 2, _FP_REJECT: 1, _FN_REJECT: 1},
            defined_by=(_LABELS, _TP_REJECT, _FP_REJECT),
        ),
        (f"{_REJECTING}.f1",),
    ),
    "reject_precision": Metric(
        "Reject precision",
        "TP / (TP + FP) of rejecting, 0 to 1; null where nothing was rejected.",
        Ratio({_TP_REJECT: 1}, {_TP_REJECT: 1, _FP_REJECT: 1}),
        (f"{_REJECTING}.precision",),
    ),
    "reject_recall": Metric(
        "Reject recall",
        "TP / (TP + FN) of rejecting, 0 to 1; null where both are 0.",
        Ratio({_TP_REJECT: 1}, {_TP_REJECT: 1, _FN_REJECT: 1}),
        (f"{_REJECTING}.recall",),
    ),
    "call_f1": Metric(
        "Call F1",
        "F1 of calling, 0 to 1; null with neither labels nor predictions.",
        Ratio({_TP_CALL: 2}, {_TP_CALL: 2, _FP_CALL: 1, _FN_CALL: 1}),
        (f"{_CALLING}.f1",),
    ),
    "call_precision": Metric(
        "Call precision",
        "TP / (TP + FP) of calling, 0 to 1; null where nothing was called.",
        Ratio({_TP_CALL: 1}, {_TP_CALL: 1, _FP_CALL: 1}),
        (f"{_CALLING}.precision",),
    ),
    "call_recall": Metric(
        "Call recall",
        "TP / (TP + FN) of calling, 0 to 1; null where no call is labelled.",
        Ratio({_TP_CALL: 1}, {_TP_CALL: 1, _FN_CALL: 1}),
        (f"{_CALLING}.recall",),
    ),
    "name_f1": Metric(
        "Name F1",
        "F1 of tool names: of a step, or its mean over steps, runs and files; 0 to 1.",
        _file_mean("name_f1"),
        ("function_name_accuracy",),
    ),
    "key_f1": Metric(
        "Key F1",
        "F1 of argument keys: of a step, or its mean over steps, runs and files; 0 to 1.",
        _file_mean("key_f1"),
        ("arguments_key_score",),
    ),
    "value_f1": Metric(
        "Value F1",
        "F1 of argument values: of a step, or its mean over steps, runs and files; 0 to 1.",
        _file_mean("value_f1"),
        ("arguments_value_score_not_count_rejection",),
    ),
    "structure_similarity": Metric(
        "Plan structure",
        "Similarity of workflow graphs, 0 to 1; of a model, the mean over files.",
        _file_mean("structure_similarity"),
        ("average_structural_GED",),
    ),
    "component_similarity": Metric(
        "Plan components",
        "Similarity of step graphs, 0 to 1; of a model, the mean over files.",
        _file_mean("component_similarity"),
        ("average_component_GED",),
    ),
}
HEADLINE = tuple(METRICS)[:4]
LABELS = {name: metric.label for name, metric in METRICS.items()}
# What stands in the column `language` where the figure is the mean over a model's languages.
MEAN_OF_LANGUAGES = "mean"

_FILE_MEANS = (
    *(f"{part}_f1" for part in ("name", "key", "value")),
    *(f"{graph}_similarity" for graph in ("plan", "structure", "component")),
)
_COUNTS = (_LABELS, _TP_REJECT, _FP_REJECT, _FN_REJECT, _TP_CALL, _FP_CALL, _FN_CALL)
SOURCE_COLUMNS = (*_COUNTS, *_FILE_MEANS)

# Every term, and how a row of `scenario_scores` gives it.
TERMS: dict[str, pl.Expr] = {
    **{name: pl.col(name) for name in _COUNTS},
    **{f"{name}_sum": pl.col(name).fill_null(0.0) for name in _FILE_MEANS},
    **{f"{name}_file_count": pl.col(name).is_not_null() for name in _FILE_MEANS},
}


def resolve_metric(name: str) -> str:
    """The metric of that name, be it the column's, the one people see or the seed's."""
    wanted = name.strip().lower()
    known = {
        given.lower(): column
        for column, metric in METRICS.items()
        for given in (column, metric.label, *metric.seed_names)
    }
    if wanted in known:
        return known[wanted]
    names = [*(metric.label for metric in METRICS.values()), *METRICS]
    raise SelectionError(f"no metric named {name!r}; {suggest(name, names)}")


def resolve_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """Each metric once, in the order given; a single text is one name."""
    given = [names] if isinstance(names, str) else names
    return tuple(dict.fromkeys(resolve_metric(name) for name in given))


def terms_of(names: Iterable[str]) -> tuple[str, ...]:
    """The terms that these metrics are made of, whichever names they are given by."""
    needed: set[str] = set()
    for name in resolve_metrics(names):
        formula = METRICS[name].formula
        if isinstance(formula, Mean):
            needed.update(terms_of(formula.of))
        else:
            needed.update(formula.numerator, formula.denominator, formula.defined_by)
    return tuple(term for term in TERMS if term in needed)


# The cells of the confusion matrix from either perspective, in the order of the seed.
_CELLS = {
    "reject": ("true_positive", "true_negative", "false_positive", "false_negative"),
    "fc": ("true_positive", "false_positive", "false_negative", "true_negative"),
}
# Decisions are printed as they are under `upstream`, all other scores to four digits.
DECISIONS = "score_details.call_rejection_scores"


def _seed_metrics(section: str, *columns: str) -> dict[str, str]:
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
    **_seed_metrics("key_metrics", *HEADLINE),
    "score_details.workflow_scores.workflow_evaluation_with_failure": "plan_similarity",
    "score_details.workflow_scores.workflow_evaluation_without_failure": "read_plan_similarity",
    **_seed_metrics(
        "score_details.workflow_scores", "structure_similarity", "component_similarity"
    ),
    **_seed_metrics("score_details.function_call_scores", "name_f1", "key_f1", "value_f1"),
    "score_details.function_call_scores.overall_function_call_failed_rate": "failed_call_rate",
    "score_details.function_call_scores.total_fc_successful_calls": "true_negative_reject_count",
    "score_details.function_call_scores.total_function_call_cases": "call_case_count",
    f"{DECISIONS}.total_rejection_cases": "rejection_case_count",
    **_seed_metrics(DECISIONS, "reject_precision", "reject_recall", "reject_f1"),
    f"{DECISIONS}.reject_decision_performance.accuracy": "reject_accuracy",
    **_seed_metrics(DECISIONS, "call_precision", "call_recall", "call_f1"),
    f"{DECISIONS}.fc_decision_performance.accuracy": "call_accuracy",
    f"{DECISIONS}.error_patterns.overaction_rate": "overaction_rate",
    f"{DECISIONS}.error_patterns.underaction_rate": "underaction_rate",
    f"{DECISIONS}.error_patterns.type_mismatch_rate": "type_mismatch_rate",
    f"{DECISIONS}.rejection_type_accuracy": "rejection_type_accuracy",
    f"{DECISIONS}.total_rejection_type_mismatch": "type_mismatch_count",
    f"{DECISIONS}.total_failed_generation": "failed_generation_count",
    **_confusion("score_details.raw_confusion_matrix"),
}
# The name of each figure in the seed's `detailed_results`, and our column in `scenario_scores`.
SCENARIO_FIGURES = {
    "workflow_evaluation_with_failure": "plan_similarity",
    "workflow_evaluation_without_failure": "read_plan_similarity",
    **_seed_metrics("", "structure_similarity", "component_similarity"),
    "failed_workflow_generation": "failed_plan_generation_count",
    "total_comparison_steps_evaluated": "plan_count",
    **_seed_metrics("", "key_f1", "value_f1"),
    "total_fc_successful_calls": "true_negative_reject_count",
    "total_rejection_cases": "rejection_case_count",
    **_confusion(""),
    "total_function_call_cases": "call_case_count",
    **_seed_metrics("", "name_f1"),
    "total_rejection_type_mismatch": "type_mismatch_count",
    "total_failed_generation": "failed_generation_count",
}
# The evaluator does not print these. Documents that we write have them too, since under some
# profiles they are more than the confusion matrix adds up to.
LABEL_FIGURES = ("call_label_count", "rejection_label_count")


def is_rounded(path: str) -> bool:
    """Whether every profile prints a figure of `overall_statistics` to four digits."""
    return not path.startswith(DECISIONS) and not OVERALL_FIGURES[path].endswith("_count")
