"""Models next to each other: languages, usage and cost."""

import math
from collections.abc import Iterable
from functools import cached_property
from itertools import combinations

from tests.oracle.rows import MODEL, SCORED_MODEL, Row, by_key, grouped, how_many, ratio, total
from tests.oracle.scores import Scores

METRICS = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")
METRICS += ("reject_f1", "reject_precision", "reject_recall")
METRICS += ("call_f1", "call_precision", "call_recall", "name_f1", "key_f1", "value_f1")
METRICS += ("structure_similarity", "component_similarity")

LOGGED = ("failed_request_count", "rate_limited_request_count", "retried_request_count")
LOGGED += ("logged_error_count", "first_error")
# What a file states, and the part of it that the file itself used.
USED = {
    "usage_call_count": "used_call_count",
    "input_token_count": "used_input_token_count",
    "output_token_count": "used_output_token_count",
    "total_token_count": "used_token_count",
    "total_cost": "used_cost",
}


def _usage_of(files: list[Row]) -> list[Row]:
    """The files of one model and language, with what each of them used."""
    order = [
        {name: file[name] for name in (*MODEL, "scenario", "run_count", *USED)}
        | {"answer_count": file["plan_answer_count"] + file["step_answer_count"]}
        | {"least": file["least_counter_count"], "seconds": file["generated_seconds"]}
        for file in files
    ]
    order.sort(key=lambda f: (_last(f["seconds"]), _last(f["usage_call_count"]), f["scenario"]))
    processes: list[list[Row]] = []
    for file in order:
        before = processes[-1][-1] if processes else None
        falls = before is None or any(
            None not in (before[name], file[name]) and file[name] < before[name]
            for name in ("usage_call_count", "total_token_count", "total_cost")
        )
        if falls:
            processes.append([])
        processes[-1].append(file)
    for process in processes:
        start: Row = dict.fromkeys(USED, 0)
        answered = 0
        for file in process:
            answered += file["answer_count"]
            file["increase"] = {
                name: None if None in (file[name], start[name]) else file[name] - start[name]
                for name in USED
            }
            file["is_below"] = file["usage_call_count"] is not None and (
                file["usage_call_count"] < answered
            )
            file["is_process_end"] = file is process[-1]
            start = file
    for file in order:
        file["is_usage_doubtful"] = (file["usage_call_count"] or 0) > 5 * file["answer_count"]
    stated = [file for file in order if file["usage_call_count"] is not None]
    has_one_run = all(file["run_count"] <= 1 for file in order)
    is_own = any(file["usage_call_count"] < file["least"] for file in stated) or (
        has_one_run
        and any(file["is_below"] for file in order)
        and not any(file["is_usage_doubtful"] for file in order)
    )
    is_ordered = (
        has_one_run
        and len(stated) == len(order)
        and (len(order) == 1 or all(file["seconds"] is not None for file in order))
    )
    fits = is_ordered and all(
        file["answer_count"] <= file["increase"]["usage_call_count"] <= 5 * file["answer_count"]
        for file in order
    )
    for file in order:
        if file["usage_call_count"] is None or (is_own and file["is_usage_doubtful"]):
            basis = "unknown"
        elif is_own:
            basis = "as_given"
        else:
            basis = ("difference" if fits else "process") if is_ordered else "unknown"
        file["usage_basis"] = basis
        figures = {"as_given": file, "difference": file["increase"]}.get(basis, {})
        for name, used in USED.items():
            file[used] = figures.get(name)
        for name in ("least", "seconds", "increase", "is_below"):
            del file[name]
    return order


def _last(number: float | None) -> float:
    return math.inf if number is None else number


class Models(Scores):
    """Views over models."""

    @cached_property
    def metric_scores(self) -> list[Row]:
        return [
            {
                **{name: row[name] for name in (*SCORED_MODEL, "scored_file_count")},
                "metric": metric,
                "score": row[metric],
            }
            for row in self.model_scores
            for metric in METRICS
        ]

    @cached_property
    def language_gaps(self) -> list[Row]:
        found = []
        for key, rows in grouped(self.model_scores, SCORED_MODEL[:3]).items():
            for one, other in combinations(sorted(rows, key=lambda row: row["language"]), 2):
                for metric in METRICS:
                    scores = one[metric], other[metric]
                    found.append(
                        {
                            **dict(zip(SCORED_MODEL, key, strict=False)),
                            "metric": metric,
                            "language": one["language"],
                            "other_language": other["language"],
                            "score": scores[0],
                            "other_score": scores[1],
                            "scored_file_count": one["scored_file_count"],
                            "other_scored_file_count": other["scored_file_count"],
                            "language_gap": None if None in scores else scores[1] - scores[0],
                        }
                    )
        return found

    @cached_property
    def scenario_usage(self) -> list[Row]:
        return [row for files in self._files() for row in _usage_of(files)]

    @cached_property
    def model_usage(self) -> list[Row]:
        found = []
        for key, files in grouped(self.scenario_usage, MODEL).items():
            row = dict(zip(MODEL, key, strict=True))
            row["usage_basis"] = min(file["usage_basis"] for file in files)
            row["unknown_usage_file_count"] = how_many(
                files, lambda file: file["usage_basis"] == "unknown"
            )
            row["doubtful_usage_file_count"] = how_many(
                files, lambda file: file["is_usage_doubtful"]
            )
            is_process = row["usage_basis"] == "process"
            counted = [file for file in files if file["is_process_end"]] if is_process else files
            for stated, used in USED.items():
                row[used] = total(counted, stated if is_process else used)
            for stated, prefix, unit in (
                ("total_token_count", "token", "tokens"),
                ("total_cost", "cost", "cost"),
            ):
                used = USED[stated]
                known = [f for f in files if f[stated if is_process else used] is not None]
                row[f"{prefix}_file_count"] = len(known)
                row[f"{prefix}_run_count"] = total(known, "run_count") or 0
                row[f"mean_file_{unit}"] = ratio(row[used], len(known))
                row[f"mean_run_{unit}"] = ratio(row[used], row[f"{prefix}_run_count"])
            is_unknown = row["usage_basis"] == "unknown"
            for stated, least in (
                ("total_token_count", "least_token_count"),
                ("total_cost", "least_cost"),
            ):
                read = [ratio(file[stated], file["run_count"]) for file in files]
                known_least = [value for value in read if value is not None]
                row[least] = max(known_least) if is_unknown and known_least else None
            if row["least_token_count"] is not None:
                row["least_token_count"] = math.ceil(row["least_token_count"])
            found.append(row)
        return found

    def _files(self) -> Iterable[list[Row]]:
        return grouped(self.table("scenarios"), MODEL).values()

    @cached_property
    def model_problems(self) -> list[Row]:
        reported = grouped(self.table("reported_scenarios"), MODEL)
        logs = grouped(self.table("run_logs"), MODEL)
        found = []
        for key, files in grouped(self.table("scenarios"), MODEL).items():
            row = dict(zip(MODEL, key, strict=True))
            row["label_count"] = total(files, "step_count") + total(files, "plan_count")
            row["answer_count"] = total(files, "step_answer_count")
            row["answer_count"] += total(files, "plan_answer_count")
            row["lost_answer_count"] = total(files, "missing_answer_count")
            row["lost_answer_count"] += total(files, "missing_plan_count")
            for name in ("empty_answer_count", "unreadable_run_count", "unreadable_entry_count"):
                row[name] = total(files, name)
            figures = reported.get(key)
            failed = [f for f in figures or () if f["figure"].endswith(".llm_failed_trials")]
            row["unjudged_run_count"] = total(failed, "value")
            errors = {f["scenario"] for f in figures or () if f["message"] is not None}
            row["reported_error_count"] = None if figures is None else len(errors)
            (log,) = logs.get(key, [{}])
            for name in LOGGED:
                row[name] = log.get(name)
            row["is_unanswered"] = row["label_count"] > 0 and row["answer_count"] == 0
            row["lost_answer_rate"] = ratio(row["lost_answer_count"], row["label_count"])
            row["empty_answer_rate"] = ratio(row["empty_answer_count"], row["answer_count"])
            found.append(row)
        return found

    @cached_property
    def score_costs(self) -> list[Row]:
        usage = by_key(self.model_usage, MODEL)
        found = []
        for scores in self.model_scores:
            used = usage[tuple(scores[name] for name in MODEL)]
            row = {name: scores[name] for name in (*SCORED_MODEL, "average_score")} | used
            del row["used_call_count"]
            row["score_per_cost"] = ratio(row["average_score"], row["mean_run_cost"])
            found.append(row)

        def beats(one: Row, other: Row) -> bool:
            is_rival = all(one[name] == other[name] for name in ("profile", "language"))
            if not is_rival or None in (one["average_score"], one["mean_run_cost"]):
                return False
            more = one["average_score"] - other["average_score"]
            less = other["mean_run_cost"] - one["mean_run_cost"]
            return more >= 0 and less >= 0 and more + less > 0

        for row in found:
            is_known = None not in (row["average_score"], row["mean_run_cost"])
            is_beaten = is_known and any(beats(other, row) for other in found)
            row["is_pareto_optimal"] = not is_beaten if is_known else None
        return found
