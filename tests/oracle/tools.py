"""Which tools were called, and with which arguments."""

import json
from functools import cached_property

from tests.oracle.rows import (
    OUTCOMES,
    SCORED_MODEL,
    STEP,
    Row,
    Rows,
    by_key,
    grouped,
    how_many,
    is_rejection,
    prf,
    total,
)


class Tools(Rows):
    """Views over tools and arguments."""

    @cached_property
    def list_items(self) -> list[Row]:
        judged = [a for a in self.table("scored_arguments") if a["decided_by"] == "judge"]
        texts = {
            s[side] for s in self.table("scored_steps") for side in ("label_tools", "answer_tools")
        }
        texts |= {a[side] for a in judged for side in ("label_values", "answer_values")}
        return [
            {"list_text": text, "item": item}
            for text in texts - {None}
            for item in set(json.loads(text))
        ]

    @cached_property
    def step_tools(self) -> list[Row]:
        found = []
        for step in self.steps:
            wanted = set(json.loads(step["label_tools"] or "[]"))
            is_call = step["predicted"] == "call"
            called = set(json.loads((is_call and step["answer_tools"]) or "[]"))
            found += [
                {name: step[name] for name in (*STEP, "step_key", "actual", "predicted")}
                | {"tool": tool, "is_labelled": tool in wanted, "is_answered": tool in called}
                for tool in wanted | called
            ]
        return found

    @cached_property
    def tool_scores(self) -> list[Row]:
        step_of = by_key(self.steps, STEP)
        found = []
        for key, tools in grouped(self.step_tools, (*SCORED_MODEL, "tool")).items():
            wanted = [t for t in tools if t["is_labelled"]]
            missed = [t for t in wanted if not t["is_answered"]]
            both = [t for t in wanted if t["is_answered"]]
            unwanted = [t for t in tools if not t["is_labelled"]]
            steps = [step_of[tuple(t[name] for name in STEP)] for t in both]
            found.append(
                {
                    **dict(zip((*SCORED_MODEL, "tool"), key, strict=True)),
                    "labelled_step_count": len(wanted),
                    "answered_step_count": len(both) + len(unwanted),
                    "tool_true_positive_count": len(both),
                    "tool_false_positive_count": len(unwanted),
                    "tool_false_negative_count": len(missed),
                    "overaction_count": how_many(unwanted, lambda t: t["actual"] != "call"),
                    "replaced_step_count": how_many(missed, lambda t: t["predicted"] == "call"),
                    "rejected_step_count": how_many(missed, lambda t: is_rejection(t["predicted"])),
                    "failed_step_count": how_many(missed, lambda t: t["predicted"] == "failed"),
                    **prf("tool", "tool_f1", len(both), len(unwanted), len(missed)),
                    **self._argument_counts("key", steps),
                    **self._argument_counts("value", steps),
                }
            )
        return found

    @staticmethod
    def _argument_counts(side: str, rows: list[Row]) -> Row:
        names = [f"{side}_{n}_count" for n in ("true_positive", "false_positive", "false_negative")]
        counts = {name: total(rows, name) or 0 for name in names}
        return counts | prf(side, f"{side}_micro_f1", *counts.values())

    @cached_property
    def argument_scores(self) -> list[Row]:
        step_of = by_key(self.steps, STEP)
        arguments = [
            {
                **{name: argument[name] for name in (*SCORED_MODEL, "argument_key", "decided_by")},
                "is_pattern_unchecked": argument["is_pattern_unchecked"],
                **{
                    name: step_of[tuple(argument[name] for name in STEP)][name]
                    for name in ("agent_id", "label_tools")
                },
                "key_true_positive_count": int(
                    argument["label_values"] is not None and argument["answer_values"] is not None
                ),
                "key_false_positive_count": int(argument["label_values"] is None),
                "key_false_negative_count": int(argument["answer_values"] is None),
                **{f"value_{name}": argument[name] for name in OUTCOMES},
            }
            for argument in self.table("scored_arguments")
        ]
        keys = (*SCORED_MODEL, "agent_id", "label_tools", "argument_key")
        found = []
        for key, rows in grouped(arguments, keys).items():
            judged = how_many(rows, lambda a: a["decided_by"] == "judge")
            found.append(
                {
                    **dict(zip(keys, key, strict=True)),
                    "argument_count": len(rows),
                    "judged_argument_count": judged,
                    "judged_rate": judged / len(rows),
                    "unchecked_argument_count": how_many(rows, lambda a: a["is_pattern_unchecked"]),
                    **self._argument_counts("key", rows),
                    **self._argument_counts("value", rows),
                }
            )
        return found

    @cached_property
    def step_arguments(self) -> list[Row]:
        arguments = grouped(self.table("scored_arguments"), STEP)
        of_step = (
            *(*STEP, "step_key", "agent_id", "is_scored", "left_out_reason", "actual", "predicted"),
            *("failure_reason", "label_tools", "answer_tools", "is_call_scored"),
            *("name_f1", "key_f1", "value_f1"),
        )
        of_argument = ("argument_key", *OUTCOMES, "decided_by", "answer_values", "label_values")
        nothing = dict.fromkeys(of_argument)
        return [
            {name: step[name] for name in of_step} | {name: row[name] for name in of_argument}
            for step in self.table("scored_steps")
            for row in arguments.get(tuple(step[name] for name in STEP), [nothing])
        ]
