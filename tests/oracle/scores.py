"""The scores of runs, files and models, by the rules of their profiles."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from tests.oracle.rows import (
    CONFUSION,
    MODEL,
    RUN,
    SCENARIO,
    SCORED_MODEL,
    Row,
    Rows,
    by_key,
    grouped,
    how_many,
    mean,
    prf,
    ratio,
    total,
)

HEADLINES = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")
LEFT_OUT = {
    "unusable_label_count": "unusable_label",
    "surplus_answer_count": "surplus_answer",
    "unlabelled_answer_count": "unlabelled_answer",
    "unanswered_step_count": "unanswered_step",
    "void_step_count": "void_file",
}


class Scores(Rows):
    """From `run_calls` to `leaderboard`."""

    def rounded(self, profile: str, value: float | None) -> float | None:
        is_rounding = self.rules[profile]["rounding"] == "four_digits" and value is not None
        return round(value, 4) if is_rounding else value

    @cached_property
    def run_calls(self) -> list[Row]:
        found = []
        for key, steps in grouped(self.steps, RUN).items():
            rules = self.rules[key[0]]
            labelled = how_many(steps, lambda s: s["actual"] == "call")
            if not labelled and rules["run_mean"] != "all_runs":
                continue
            values = [s["value_f1"] for s in steps if s["value_f1"] is not None]
            if rules["value_mean"] == "positive_only":
                values = [value for value in values if value > 0]
            found.append(
                {
                    **dict(zip(RUN, key, strict=True)),
                    "call_label_count": labelled,
                    "call_scored_count": how_many(steps, lambda s: s["is_call_scored"]),
                    "name_f1": self.rounded(key[0], mean(s["name_f1"] for s in steps) or 0.0),
                    "key_f1": self.rounded(key[0], mean(s["key_f1"] for s in steps) or 0.0),
                    "value_f1": mean(values) or 0.0,
                }
            )
        return found

    @cached_property
    def scenario_calls(self) -> list[Row]:
        files = by_key(self.table("scenarios"), SCENARIO[1:])
        found = []
        for key, runs in grouped(self.run_calls, SCENARIO).items():
            counts_all = self.rules[key[0]]["run_mean"] == "all_runs"
            count = files[key[1:]]["run_count"] if counts_all else len(runs)
            row = {**dict(zip(SCENARIO, key, strict=True)), "call_run_count": count}
            for name in ("name_f1", "key_f1", "value_f1"):
                row[name] = self.rounded(key[0], sum(run[name] for run in runs) / count)
            found.append(row)
        return found

    @cached_property
    def scenario_decisions(self) -> list[Row]:
        found = []
        for key, steps in grouped(self.table("scored_steps"), SCENARIO).items():
            scored = [s for s in steps if s["is_scored"]]
            reasons = Counter(s["left_out_reason"] for s in steps)
            found.append(
                {
                    **dict(zip(SCENARIO, key, strict=True)),
                    "call_label_count": how_many(scored, lambda s: s["actual"] == "call"),
                    "rejection_label_count": how_many(scored, lambda s: s["actual"] != "call"),
                    "call_scored_count": how_many(steps, lambda s: s["is_call_scored"]),
                    **{name: total(steps, name) for name in CONFUSION},
                    "type_mismatch_count": how_many(steps, lambda s: s["is_type_mismatch"]),
                    "failed_generation_count": total(steps, "failed_generation_count"),
                    **{name: reasons[reason] for name, reason in LEFT_OUT.items()},
                }
            )
        return found

    @cached_property
    def scenario_plans(self) -> list[Row]:
        found = []
        for key, plans in grouped(self.table("scored_plans"), SCENARIO).items():
            rules = self.rules[key[0]]
            scored = [p for p in plans if p["is_scored"]]
            failed = how_many(scored, lambda p: p["is_failed"])
            failures = total(plans, "failed_generation_count")
            sums = {
                f"{name}_sum": total(plans, name)
                for name in ("plan_similarity", "structure_similarity", "component_similarity")
            }
            below = len(scored) + (failures if rules["failed_plan"] == "per_entry" else 0)
            is_without = rules["without_failure"] == "excludes_failed"
            below_without = len(scored) - (failed if is_without else 0)
            found.append(
                {
                    **dict(zip(SCENARIO, key, strict=True)),
                    "plan_count": len(scored),
                    "failed_plan_count": failed,
                    "failed_plan_generation_count": failures,
                    **sums,
                    "inexact_plan_count": how_many(scored, lambda p: not p["is_ged_exact"]),
                    "left_out_plan_count": len(plans) - len(scored),
                    "plan_with_failure_count": below,
                    "plan_without_failure_count": below_without,
                    "plan_similarity": ratio(sums["plan_similarity_sum"], below),
                    "read_plan_similarity": ratio(sums["plan_similarity_sum"], below_without),
                    "structure_similarity": ratio(sums["structure_similarity_sum"], len(scored)),
                    "component_similarity": ratio(sums["component_similarity_sum"], len(scored)),
                }
            )
        return found

    @cached_property
    def scenario_scores(self) -> list[Row]:
        parts = [
            by_key(rows, SCENARIO)
            for rows in (self.scenario_decisions, self.scenario_calls, self.scenario_plans)
        ]
        names = [next(iter(part.values())).keys() for part in parts]
        found = []
        for profile, rules in self.rules.items():
            undefined = 0.0 if rules["undefined"] == "zero" else None
            for file in self.table("scenarios"):
                key = (profile, *(file[name] for name in SCENARIO[1:]))
                row: Row = {}
                for part, columns in zip(parts, names, strict=True):
                    figures = part.get(key, {})
                    for name in columns:
                        empty = 0 if name.endswith(("_count", "_sum")) else undefined
                        value = figures.get(name)
                        row[name] = empty if value is None else value
                row |= {**dict(zip(SCENARIO, key, strict=True)), "run_count": file["run_count"]}
                calls, rejections = row["call_label_count"], row["rejection_label_count"]
                if rules["case_totals"] == "by_call_key":
                    calls = file["call_key_count"]
                    rejections = file["step_count"] - calls
                is_void = row["void_step_count"] > 0
                row["call_case_count"] = 0 if is_void else calls
                row["rejection_case_count"] = 0 if is_void else rejections
                found.append(row)
        return found

    @cached_property
    def model_scores(self) -> list[Row]:
        refused = Counter(
            tuple(s[name] for name in MODEL)
            for s in self.table("sources")
            if s["kind"] == "runs" and s["status"] == "refused" and s["reason"] != "duplicate"
        )
        return [
            self._model_score(key, files, refused[key[1:]])
            for key, files in grouped(self.scenario_scores, SCORED_MODEL).items()
        ]

    def _model_score(self, key: tuple[str, ...], files: list[Row], refused: int) -> Row:
        rules = self.rules[key[0]]
        undefined = 0.0 if rules["undefined"] == "zero" else None
        summed = [n for n in files[0] if n.endswith("_count")]
        row = {**dict(zip(SCORED_MODEL, key, strict=True))}
        row |= {name: total(files, name) for name in summed}
        for name in ("plan_with_failure_count", "plan_without_failure_count", "call_run_count"):
            del row[name]
        row |= {"scored_file_count": len(files), "refused_file_count": refused}
        row["file_count"] = len(files) + refused
        hits, false_hits, misses, passes = (
            row[f"{n}_reject_count"]
            for n in ("true_positive", "false_positive", "false_negative", "true_negative")
        )
        mismatches = row["type_mismatch_count"]
        counts_mismatches = rules["error_total"] == "with_mismatches"
        row["error_count"] = false_hits + misses + (mismatches if counts_mismatches else 0)
        if rules["mismatch_totals"] == "zero":
            row["type_mismatch_count"] = row["failed_generation_count"] = 0
        row |= prf("reject", "reject_f1", hits, false_hits, misses)
        row["reject_f1"] = row["reject_f1"] or 0.0
        if not row["rejection_label_count"] + hits + false_hits:
            row["reject_f1"] = undefined
        row["reject_accuracy"] = ratio(hits + passes, hits + passes + false_hits + misses)
        calls = [
            row[f"{n}_call_count"] for n in ("true_positive", "false_positive", "false_negative")
        ]
        row |= prf("call", "call_f1", *calls)
        if row["call_f1"] is None:
            row["call_f1"] = undefined
        right = calls[0] + row["true_negative_call_count"]
        row["call_accuracy"] = ratio(right, right + calls[1] + calls[2])
        row["overaction_rate"] = ratio(misses, row["error_count"])
        row["underaction_rate"] = ratio(false_hits, row["error_count"])
        row["type_mismatch_rate"] = ratio(row["type_mismatch_count"], row["error_count"])
        row["rejection_type_accuracy"] = ratio(hits - row["type_mismatch_count"], hits)
        row["failed_call_rate"] = ratio(row["call_case_count"] - passes, row["call_case_count"])
        for name in ("name_f1", "key_f1", "value_f1", "plan_similarity", "read_plan_similarity"):
            row[name] = mean(file[name] for file in files)
        for name in ("structure_similarity", "component_similarity"):
            row[name] = mean(file[name] for file in files)
        parts = [row["name_f1"], row["key_f1"], row["value_f1"]]
        headlines = {
            "call_rejection_f1": mean([row["reject_f1"], row["call_f1"]]),
            "function_call_f1": None if None in parts else sum(parts) / 3,
            "workflow_similarity": row["plan_similarity"],
        }
        row |= {name: self.rounded(key[0], value) for name, value in headlines.items()}
        row["average_score"] = self.rounded(key[0], mean(row[name] for name in headlines))
        return row

    @cached_property
    def leaderboard(self) -> list[Row]:
        return self._ranked(SCORED_MODEL[:3])

    @cached_property
    def language_ranks(self) -> list[Row]:
        means = [row | {"language": "mean"} for row in self.leaderboard]
        return means + self._ranked(SCORED_MODEL)

    def _ranked(self, keys: Sequence[str]) -> list[Row]:
        """Models over all of their languages, or, if the language is a key, in each of them."""
        found = []
        for key, languages in grouped(self.model_scores, keys).items():
            row = {
                **dict(zip(keys, key, strict=True)),
                **{name: mean(r[name] for r in languages) for name in HEADLINES},
                "language_count": len(languages),
                "file_count": total(languages, "file_count"),
                "refused_file_count": total(languages, "refused_file_count"),
            }
            sweep = {
                (file["language"], file["scenario"])
                for file in self.table("scenarios")
                if row.get("language") in (None, file["language"])
            }
            row["scenario_count"] = total(languages, "scored_file_count")
            row["sweep_scenario_count"] = len(sweep)
            row["sweep_language_count"] = len({language for language, _ in sweep})
            row["coverage"] = row["scenario_count"] / len(sweep)
            row["unanswered_language_count"] = how_many(
                grouped(self.table("scenarios"), SCORED_MODEL[1:]).items(),
                lambda item, key=key: (
                    item[0][: len(key) - 1] == key[1:]
                    and total(item[1], "step_count") + total(item[1], "plan_count") > 0
                    and total(item[1], "step_answer_count") + total(item[1], "plan_answer_count")
                    == 0
                ),
            )
            row["rank_status"] = (
                "no_answers"
                if row["unanswered_language_count"]
                else "incomplete"
                if row["coverage"] < 1
                else "no_score"
                if row["average_score"] is None
                else "ranked"
            )
            row["is_ranked"] = row["rank_status"] == "ranked"
            found.append(row)
        for row in found:
            row["rank_number"] = None
            if row["is_ranked"]:
                row["rank_number"] = 1 + how_many(
                    found,
                    lambda other, row=row: (
                        other["is_ranked"]
                        and other["profile"] == row["profile"]
                        and other.get("language") == row.get("language")
                        and other["average_score"] > row["average_score"] + 1e-12
                    ),
                )
        return found
