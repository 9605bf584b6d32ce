"""A stand-in for the evaluator's own result file: decisions, function names and argument keys.

It counts from the answers alone and uses nothing of this package's scoring, so that `orchbench
check` compares two computations. It does not report plans and argument values.
"""

from collections import Counter
from statistics import fmean

from orchbench_analytics.demo.judge import called_pairs, is_rejection, label_of
from orchbench_analytics.demo.labels import Document, Scenario


def evaluate_scenario(scenario: Scenario, document: Document, *, path: str) -> Document:
    """An entry of `detailed_results`: the counts and scores of one result document."""
    runs = [run["sub_agent_history"] for run in document["history"].values()]
    counts = Counter(
        (bool(label_of(scenario, answer).get("tool_calls")), not is_rejection(answer))
        for answers in runs
        for answer in answers
    )
    steps = [key for key, entry in scenario.document.items() if "agent_id" in entry]
    cases = len(runs) * sum("-" not in step for step in steps)
    call_cases = len(runs) * sum(step.endswith("-1") for step in steps)
    scores = [_run_scores(scenario, answers) for answers in runs]
    confusion = {
        "total_true_positive_reject": counts[False, False],
        "total_true_negative_reject": counts[True, True],
        "total_false_positive_reject": counts[True, False],
        "total_false_negative_reject": counts[False, True],
        "total_true_positive_fc": counts[True, True],
        "total_false_positive_fc": counts[False, True],
        "total_false_negative_fc": counts[True, False],
        "total_true_negative_fc": counts[False, False],
    }
    return {
        "file_path": path,
        "arguments_key_score": round(fmean(keys for _, keys in scores), 4),
        "total_fc_successful_calls": counts[True, True],
        "total_rejection_cases": cases - call_cases,
        **confusion,
        "total_function_call_cases": call_cases,
        "function_name_accuracy": round(fmean(names for names, _ in scores), 4),
    }


def result_file(directory: str, details: list[Document]) -> Document:
    """The evaluator's file of one model, experiment and language."""
    total = Counter[str]()
    for detail in details:
        total.update({key: value for key, value in detail.items() if key.startswith("total_")})
    names = [detail["function_name_accuracy"] for detail in details]
    keys = [detail["arguments_key_score"] for detail in details]
    rejections = _performance(*(total[f"total_{cell}_reject"] for cell in CELLS))
    calls = _performance(*(total[f"total_{cell}_fc"] for cell in CELLS))
    called, due = total["total_fc_successful_calls"], total["total_function_call_cases"]
    missed, needless = total["total_false_negative_reject"], total["total_false_positive_reject"]
    decided = (rejections["f1"] + calls["f1"]) / 2
    statistics = {
        "total_files": len(details),
        "successful_evaluations": len(details),
        "failed_evaluations": 0,
        "key_metrics": {"Call Rejection Classification Accuracy": round(decided, 4)},
        "score_details": {
            "function_call_scores": {
                "function_name_accuracy": round(fmean(names), 4),
                "arguments_key_score": round(fmean(keys), 4),
                "overall_function_call_failed_rate": round(_share(due - called, due), 4),
                "total_fc_successful_calls": called,
                "total_function_call_cases": due,
            },
            "call_rejection_scores": {
                "total_rejection_cases": total["total_rejection_cases"],
                "reject_decision_performance": rejections,
                "fc_decision_performance": calls,
                "error_patterns": {
                    "overaction_rate": _share(missed, missed + needless),
                    "underaction_rate": _share(needless, missed + needless),
                },
            },
            "raw_confusion_matrix": {
                f"total_{cell}_{side}": total[f"total_{cell}_{side}"]
                for side in ("reject", "fc")
                for cell in CELLS
            },
        },
    }
    return {"directory": directory, "overall_statistics": statistics, "detailed_results": details}


CELLS = ("true_positive", "true_negative", "false_positive", "false_negative")


def _run_scores(scenario: Scenario, answers: list[Document]) -> tuple[float, float]:
    """The mean F1 of names and of keys over the calls that were due and made."""
    pairs = [(predicted, actual) for _, predicted, actual in called_pairs(scenario, answers)]
    if not pairs:
        return 0.0, 0.0
    names = [_f1({*predicted.names}, {*actual.names}) for predicted, actual in pairs]
    keys = [_f1({*predicted.arguments}, {*actual.arguments}) for predicted, actual in pairs]
    return round(fmean(names), 4), round(fmean(keys), 4)


def _f1(predicted: set[str], actual: set[str]) -> float:
    if not predicted and not actual:
        return 1.0
    agreed = len(predicted & actual)
    return _harmonic(_share(agreed, len(predicted)), _share(agreed, len(actual)))


def _performance(tp: int, tn: int, fp: int, fn: int) -> dict[str, float]:
    precision, recall = _share(tp, tp + fp), _share(tp, tp + fn)
    return {
        "precision": precision,
        "recall": recall,
        "f1": _harmonic(precision, recall),
        "accuracy": _share(tp + tn, tp + tn + fp + fn),
    }


def _harmonic(precision: float, recall: float) -> float:
    return _share(2 * precision * recall, precision + recall)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
