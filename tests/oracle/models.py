"""Models next to each other: languages, usage and cost."""

from functools import cached_property
from itertools import combinations

from tests.oracle.rows import MODEL, SCORED_MODEL, Row, by_key, grouped, ratio, total
from tests.oracle.scores import Scores

METRICS = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")
METRICS += ("reject_f1", "reject_precision", "reject_recall")
METRICS += ("call_f1", "call_precision", "call_recall", "name_f1", "key_f1", "value_f1")
METRICS += ("structure_similarity", "component_similarity")


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
    def model_usage(self) -> list[Row]:
        found = []
        for key, files in grouped(self.table("scenarios"), MODEL).items():
            row = dict(zip(MODEL, key, strict=True))
            for name in ("usage_call_count", "input_token_count", "output_token_count"):
                row[name] = total(files, name)
            for name, prefix, unit in (
                ("total_token_count", "token", "tokens"),
                ("total_cost", "cost", "cost"),
            ):
                known = [file for file in files if file[name] is not None]
                row[name] = total(known, name)
                row[f"{prefix}_file_count"] = len(known)
                row[f"{prefix}_run_count"] = total(known, "run_count") or 0
                row[f"mean_file_{unit}"] = ratio(row[name], len(known))
                row[f"mean_run_{unit}"] = ratio(row[name], row[f"{prefix}_run_count"])
            found.append(row)
        return found

    @cached_property
    def score_costs(self) -> list[Row]:
        usage = by_key(self.model_usage, MODEL)
        found = []
        for scores in self.model_scores:
            used = usage[tuple(scores[name] for name in MODEL)]
            row = {name: scores[name] for name in (*SCORED_MODEL, "average_score")} | used
            del row["usage_call_count"]
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
