"""What was decided: the matrix, and scores by agent and by type of rejection."""

from collections import Counter
from functools import cached_property

from tests.oracle.rows import (
    CONFUSION,
    SCORED_MODEL,
    Row,
    Rows,
    grouped,
    how_many,
    is_rejection,
    mean,
    prf,
    ratio,
    total,
)


class Decisions(Rows):
    """Views over the decisions of scored steps."""

    @cached_property
    def confusion_matrix(self) -> list[Row]:
        keys = (*SCORED_MODEL, "actual", "predicted")
        cells = Counter(tuple(step[key] for key in keys) for step in self.steps)
        actual, predicted = Counter(), Counter()
        for cell, count in cells.items():
            actual[cell[:5]] += count
            predicted[(*cell[:4], cell[5])] += count
        return [
            {
                **dict(zip(keys, cell, strict=True)),
                "step_count": count,
                "actual_step_count": actual[cell[:5]],
                "predicted_step_count": predicted[(*cell[:4], cell[5])],
                "actual_share": count / actual[cell[:5]],
                "predicted_share": count / predicted[(*cell[:4], cell[5])],
            }
            for cell, count in cells.items()
        ]

    @cached_property
    def agent_scores(self) -> list[Row]:
        found = []
        for key, steps in grouped(self.steps, (*SCORED_MODEL, "agent_id")).items():
            counts = {name: total(steps, name) for name in CONFUSION}
            rejections = how_many(steps, lambda s: s["actual"] != "call")
            called = [s for s in steps if s["is_call_scored"]]
            sums = {f"{n}_sum": total(called, n) or 0.0 for n in ("name_f1", "key_f1", "value_f1")}
            right = counts["true_positive_reject_count"] + counts["true_negative_reject_count"]
            row = {
                **dict(zip((*SCORED_MODEL, "agent_id"), key, strict=True)),
                "scored_step_count": len(steps),
                "call_label_count": len(steps) - rejections,
                "rejection_label_count": rejections,
                **counts,
                "type_mismatch_count": how_many(steps, lambda s: s["is_type_mismatch"]),
                "failed_generation_count": total(steps, "failed_generation_count"),
                "call_scored_count": len(called),
                **sums,
                "right_decision_count": right,
                "decision_accuracy": ratio(right, len(steps)),
                "mean_name_f1": mean(s["name_f1"] for s in called),
                "mean_key_f1": mean(s["key_f1"] for s in called),
                "mean_value_f1": mean(s["value_f1"] for s in called),
                "mean_function_call_f1": mean(
                    (s["name_f1"] + s["key_f1"] + s["value_f1"]) / 3 for s in called
                ),
            }
            for side in ("reject", "call"):
                truths = ("true_positive", "false_positive", "false_negative")
                row |= prf(side, f"{side}_f1", *(counts[f"{t}_{side}_count"] for t in truths))
            if rejections and row["reject_f1"] is None:
                row["reject_f1"] = 0.0
            found.append(row)
        return found

    @cached_property
    def rejection_type_scores(self) -> list[Row]:
        found = []
        for key, steps in grouped(self.steps, SCORED_MODEL).items():
            decisions = {s["actual"] for s in steps if s["actual"] != "call"}
            typed = [s for s in steps if s["actual"] != "rejection"]
            decisions |= {s["predicted"] for s in typed if is_rejection(s["predicted"])}
            for kind in decisions:
                labelled = [s for s in steps if s["actual"] == kind]
                answered = [s for s in typed if s["predicted"] == kind]
                hits = how_many(
                    labelled, lambda s: is_rejection(s["predicted"]) and not s["is_type_mismatch"]
                )
                false_hits = how_many(answered, lambda s, kind=kind: s["actual"] != kind)
                row = {
                    **dict(zip(SCORED_MODEL, key, strict=True)),
                    "rejection_type": kind,
                    "labelled_step_count": len(labelled),
                    "answered_step_count": len(answered),
                    "type_true_positive_count": hits,
                    "type_false_positive_count": false_hits,
                    "type_false_negative_count": len(labelled) - hits,
                    "type_mismatch_count": how_many(labelled, lambda s: s["is_type_mismatch"]),
                    "called_step_count": how_many(labelled, lambda s: s["predicted"] == "call"),
                    "failed_step_count": how_many(labelled, lambda s: s["predicted"] == "failed"),
                    **prf("type", "type_f1", hits, false_hits, len(labelled) - hits),
                }
                if kind == "rejection":
                    row["type_precision"] = row["type_f1"] = None
                found.append(row)
        return found

    @cached_property
    def error_patterns(self) -> list[Row]:
        def pattern(step: Row) -> str | None:
            wants_call, answer = step["actual"] == "call", step["predicted"]
            if answer == "failed":
                return "failed_call" if wants_call else "failed_rejection"
            if wants_call != (answer == "call"):
                return "underaction" if wants_call else "overaction"
            return "type_mismatch" if step["is_type_mismatch"] else None

        found = []
        for key, steps in grouped(self.steps, SCORED_MODEL).items():
            calls = how_many(steps, lambda s: s["actual"] == "call")
            rejections = [s for s in steps if s["actual"] != "call"]
            chances = {
                "overaction": len(rejections),
                "underaction": calls,
                "type_mismatch": how_many(rejections, lambda s: is_rejection(s["predicted"])),
                "failed_call": calls,
                "failed_rejection": len(rejections),
            }
            seen = Counter(filter(None, map(pattern, steps)))
            found += [
                {
                    **dict(zip(SCORED_MODEL, key, strict=True)),
                    "error_pattern": name,
                    "occurrence_count": seen[name],
                    "opportunity_count": chance,
                    "wrong_step_count": seen.total(),
                    "occurrence_rate": ratio(seen[name], chance),
                    "error_share": ratio(seen[name], seen.total()),
                }
                for name, chance in chances.items()
            ]
        return found

    @cached_property
    def failure_reasons(self) -> list[Row]:
        units = [
            {**s, "unit": "step", "reason": s["predicted"] == "failed" and s["failure_reason"]}
            for s in self.steps
        ]
        units += [
            {**p, "unit": "plan", "reason": p["is_failed"] and p["read_as"]} for p in self.plans
        ]
        keys = (*SCORED_MODEL, "unit")
        found = []
        for key, rows in grouped(units, keys).items():
            reasons = Counter(row["reason"] for row in rows if row["reason"])
            found += [
                {
                    **dict(zip(keys, key, strict=True)),
                    "failure_reason": reason,
                    "failure_count": count,
                    "scored_unit_count": len(rows),
                    "failed_unit_count": reasons.total(),
                    "failure_rate": count / len(rows),
                    "failure_share": count / reasons.total(),
                }
                for reason, count in reasons.items()
            ]
        return found
