"""Scenarios and steps over all models."""

import math
import statistics
from functools import cached_property

from tests.oracle.rows import (
    SCENARIO,
    SCORED_MODEL,
    Row,
    by_key,
    grouped,
    how_many,
    is_rejection,
    mean,
    ratio,
)
from tests.oracle.scores import Scores


class Scenarios(Scores):
    """Views that compare scenarios."""

    @cached_property
    def scenario_clusters(self) -> list[Row]:
        """Scenarios of equal signatures, each the only one of its language."""
        signatures: dict[tuple[str, str], set[str]] = {}
        for file in self.table("scenarios"):
            asked = signatures.setdefault((file["language"], file["scenario"]), set())
            asked.update({file["label_signature"]} - {None})
        for row in self.table("reported_scenarios"):
            signatures.setdefault((row["language"], row["scenario"]), set())
        holders: dict[str, list[tuple[str, str]]] = {}
        for key, asked in signatures.items():
            if len(asked) == 1:
                holders.setdefault(next(iter(asked)), []).append(key)
        partners: dict[tuple[str, str], list[str]] = {}
        for keys in holders.values():
            languages = [language for language, _ in keys]
            only = [key for key in keys if languages.count(key[0]) == 1]
            if len(only) > 1:
                partners |= {key: sorted(map("/".join, only)) for key in only}
        return [
            {
                "language": key[0],
                "scenario": key[1],
                "cluster": partners.get(key, ["/".join(key)])[0],
                "cluster_scenario_count": len(partners.get(key, [key])),
                "cluster_basis": "translation" if key in partners else "alone",
            }
            for key in signatures
        ]

    @cached_property
    def scenario_means(self) -> list[Row]:
        steps = grouped(self.steps, SCENARIO)
        scores = by_key(self.scenario_scores, SCENARIO)
        found = []
        for key, score in scores.items():
            decided = steps.get(key, [])
            right = how_many(
                decided,
                lambda s: (
                    s["predicted"] != "failed"
                    and (s["actual"] == "call") == (s["predicted"] == "call")
                ),
            )
            call_f1s = [score[name] for name in ("name_f1", "key_f1", "value_f1")]
            row = {
                **dict(zip(SCENARIO, key, strict=True)),
                "right_decision_count": right,
                "scored_step_count": len(decided),
                "decision_accuracy": ratio(right, len(decided)),
                "file_call_f1": mean(call_f1s) if score["call_label_count"] else None,
                "plan_similarity": score["plan_similarity"] if score["plan_count"] else None,
            }
            parts = [row["decision_accuracy"], row["file_call_f1"], row["plan_similarity"]]
            row["part_count"] = 3 - parts.count(None)
            row["part_sum"] = sum(part or 0.0 for part in parts)
            row["scenario_score"] = mean(parts)
            found.append(row)
        return found

    @cached_property
    def scored_scenarios(self) -> list[Row]:
        return [row for row in self.scenario_means if row["scenario_score"] is not None]

    @cached_property
    def model_strengths(self) -> list[Row]:
        found = []
        for key, rows in grouped(self.scored_scenarios, SCORED_MODEL).items():
            scores = [row["scenario_score"] for row in rows]
            found.append(
                {
                    **dict(zip(SCORED_MODEL, key, strict=True)),
                    "scenario_count": len(scores),
                    "scenario_score_sum": sum(scores),
                    "overall_score": statistics.fmean(scores),
                }
            )
        for rivals in grouped(found, ("profile", "language")).values():
            overall = [row["overall_score"] for row in rivals]
            for row in rivals:
                better = [other for other in overall if other > row["overall_score"] + 1e-12]
                row["attempt_count"] = len(rivals)
                row["strength_rank"] = 1 + len(better)
                row["is_strong"] = len(better) < math.ceil(len(rivals) / 4)
        return found

    def _doubts(self, attempts: list[Row], score: str) -> Row:
        """What scenarios and steps have in common: spread, death and suspicion."""
        strength_of = by_key(self.model_strengths, SCORED_MODEL)
        scores = [attempt[score] for attempt in attempts]
        strong = [
            (attempt[score], strength["overall_score"])
            for attempt in attempts
            if (strength := strength_of[tuple(attempt[n] for n in SCORED_MODEL)])["is_strong"]
        ]
        failing = [own for own, overall in strong if own < overall / 2]
        return {
            "attempt_count": len(scores),
            "least_score": min(scores),
            "greatest_score": max(scores),
            "score_range": max(scores) - min(scores),
            "is_dead": max(scores) - min(scores) <= 1e-9 if len(scores) > 1 else None,
            "strong_attempt_count": len(strong),
            "failing_strong_attempt_count": len(failing),
            "is_suspicious": len(failing) == len(strong) if strong else None,
        }

    @cached_property
    def scenario_difficulties(self) -> list[Row]:
        keys = ("profile", "language", "scenario")
        all_of = grouped(self.scored_scenarios, SCORED_MODEL)
        found = []
        for key, attempts in grouped(self.scored_scenarios, keys).items():
            scores = [attempt["scenario_score"] for attempt in attempts]
            pairs = []
            for attempt in attempts:
                others = all_of[tuple(attempt[name] for name in SCORED_MODEL)]
                rest = [o["scenario_score"] for o in others if o is not attempt]
                if rest:
                    pairs.append((attempt["scenario_score"], statistics.fmean(rest)))
            spreads = [max(side) - min(side) for side in zip(*pairs, strict=True)]
            is_defined = len(pairs) >= 3 and min(spreads) > 1e-9
            found.append(
                {
                    **dict(zip(keys, key, strict=True)),
                    **self._doubts(attempts, "scenario_score"),
                    "scenario_score_sum": sum(scores),
                    "mean_scenario_score": statistics.fmean(scores),
                    "score_deviation": statistics.stdev(scores) if len(scores) > 1 else None,
                    "discrimination": statistics.correlation(*zip(*pairs, strict=True))
                    if is_defined
                    else None,
                }
            )
        return found

    @cached_property
    def step_difficulties(self) -> list[Row]:
        units = []
        for step in self.steps:
            score: float
            if step["actual"] == "call":
                parts = [step["name_f1"], step["key_f1"], step["value_f1"]]
                score = sum(parts) / 3 if step["predicted"] == "call" else 0.0
            else:
                score = float(is_rejection(step["predicted"]) and not step["is_type_mismatch"])
            units.append({**step, "unit": "step", "score": score})
        units += [{**plan, "unit": "plan", "score": plan["plan_similarity"]} for plan in self.plans]
        place = ("profile", "language", "scenario", "unit", "step_id")
        attempt_keys = (*place, "model", "experiment")
        attempts = [
            {
                **dict(zip(attempt_keys, key, strict=True)),
                "score": statistics.fmean(row["score"] for row in rows),
            }
            for key, rows in grouped(units, attempt_keys).items()
        ]
        return [
            {
                **dict(zip(place, key, strict=True)),
                **self._doubts(rows, "score"),
                "attempt_score_sum": sum(row["score"] for row in rows),
                "mean_attempt_score": statistics.fmean(row["score"] for row in rows),
            }
            for key, rows in grouped(attempts, place).items()
        ]
