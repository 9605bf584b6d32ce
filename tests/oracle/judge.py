"""What the judge was asked, and what its verdicts did."""

import json
from collections import Counter
from functools import cached_property

from tests.oracle.rows import (
    MODEL,
    OUTCOMES,
    SCORED_MODEL,
    STEP,
    Row,
    Rows,
    by_key,
    f1,
    grouped,
    how_many,
    ratio,
)


class Judge(Rows):
    """Views over verdicts."""

    @cached_property
    def judge_effects(self) -> list[Row]:
        step_of = by_key(self.steps, STEP)
        found = []
        for argument in self.table("scored_arguments"):
            if argument["decided_by"] != "judge":
                continue
            step = step_of[tuple(argument[name] for name in STEP)]
            given, wanted = (
                set(json.loads(argument[side])) for side in ("answer_values", "label_values")
            )
            keeps_hits = self.rules[step["profile"]]["verdict"] == "replaces_unmatched"
            hits = len(given & wanted) if keeps_hits else 0
            compared = dict(
                zip(OUTCOMES, (hits, len(given - wanted), len(wanted - given)), strict=True)
            )
            without = {n: step[f"value_{n}"] - argument[n] + compared[n] for n in OUTCOMES}
            compared_f1 = f1(*without.values())
            copied = (*STEP, "step_key", "argument_key", "answer_values", "label_values", *OUTCOMES)
            found.append(
                {
                    **{name: argument[name] for name in copied},
                    **{f"value_{name}": step[f"value_{name}"] for name in OUTCOMES},
                    "value_f1": step["value_f1"],
                    **{f"compared_{name}": count for name, count in compared.items()},
                    **{f"compared_value_{name}": count for name, count in without.items()},
                    "compared_value_f1": compared_f1,
                    "is_changed": any(argument[name] != compared[name] for name in OUTCOMES),
                    "value_f1_change": step["value_f1"] - compared_f1,
                }
            )
        return found

    @cached_property
    def judge_usage(self) -> list[Row]:
        effects = grouped(self.judge_effects, SCORED_MODEL)
        found = []
        for model, rows in grouped(self.table("judgements"), MODEL).items():
            asked = [row for row in rows if row["is_asked"]]
            reasons = Counter(row["unusable_reason"] for row in asked)
            usable = how_many(rows, lambda r: r["is_usable"])
            answered = how_many(asked, lambda r: r["is_usable"])
            for profile in self.rules:
                used = effects.get((profile, *model), [])
                changed = how_many(used, lambda e: e["is_changed"])
                found.append(
                    {
                        **dict(zip(SCORED_MODEL, (profile, *model), strict=True)),
                        "asked_key_count": len(asked),
                        "answered_key_count": answered,
                        "unasked_key_count": how_many(
                            rows, lambda r: not r["is_asked"] and r["argument_key"] is not None
                        ),
                        "usable_key_count": usable,
                        "used_key_count": len(used),
                        "unused_key_count": usable - len(used),
                        "changed_key_count": changed,
                        "raised_key_count": how_many(used, lambda e: e["value_f1_change"] > 0),
                        "lowered_key_count": how_many(used, lambda e: e["value_f1_change"] < 0),
                        "no_answer_count": reasons["no_answer"],
                        "no_object_count": reasons["no_object"],
                        "no_key_count": reasons["no_key"],
                        "no_verdict_count": reasons["no_counts"],
                        "surplus_verdict_count": how_many(
                            rows, lambda r: r["unusable_reason"] == "surplus"
                        ),
                        "cut_off_log_count": how_many(
                            rows, lambda r: r["unusable_reason"] == "cut_off"
                        ),
                        "usable_rate": ratio(answered, len(asked)),
                        "used_rate": ratio(len(used), usable),
                        "changed_rate": ratio(changed, len(used)),
                    }
                )
        return found
