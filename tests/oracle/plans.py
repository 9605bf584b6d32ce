"""What is wrong with plans."""

import statistics
from collections import Counter
from functools import cached_property

from tests.oracle.rows import SCORED_MODEL, STEP, Row, Rows, grouped, how_many, mean, ratio, total


class Plans(Rows):
    """Views over plans and their edits."""

    @cached_property
    def plan_error_kinds(self) -> list[Row]:
        read = Counter(
            tuple(p[name] for name in SCORED_MODEL) for p in self.plans if not p["is_failed"]
        )
        edits = self.table("plan_edits")
        graph_costs = {
            key: total(rows, "cost")
            for key, rows in grouped(edits, (*SCORED_MODEL, "graph")).items()
        }
        keys = (*SCORED_MODEL, "graph", "kind")
        found = []
        for key, rows in grouped(edits, keys).items():
            cost, plans = total(rows, "cost"), read[key[:4]]
            edited = len({tuple(row[name] for name in STEP) for row in rows})
            found.append(
                {
                    **dict(zip(keys, key, strict=True)),
                    "edit_count": len(rows),
                    "edit_cost": cost,
                    "edited_plan_count": edited,
                    "graph_edit_cost": graph_costs[key[:5]],
                    "read_plan_count": plans,
                    "edited_plan_rate": edited / plans,
                    "mean_edit_count": len(rows) / plans,
                    "mean_edit_cost": cost / plans,
                    "edit_cost_share": ratio(cost, graph_costs[key[:5]]),
                }
            )
        return found

    @cached_property
    def plan_size_scores(self) -> list[Row]:
        keys = (*SCORED_MODEL, "label_workflow_count")
        found = []
        for key, plans in grouped(self.plans, keys).items():
            read = [p for p in plans if not p["is_failed"]]
            perfect = how_many(plans, lambda p: p["plan_similarity"] == 1)
            row = {
                **dict(zip(keys, key, strict=True)),
                "plan_count": len(plans),
                "failed_plan_count": len(plans) - len(read),
                "read_plan_count": len(read),
                "perfect_plan_count": perfect,
                "failed_plan_rate": 1 - len(read) / len(plans),
                "perfect_plan_rate": perfect / len(plans),
                "mean_read_plan_similarity": mean(p["plan_similarity"] for p in read),
            }
            for name in ("plan_similarity", "structure_similarity", "component_similarity"):
                row[f"{name}_sum"] = total(plans, name)
                row[f"mean_{name}"] = statistics.fmean(p[name] for p in plans)
            found.append(row)
        return found
