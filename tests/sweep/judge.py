"""A stand-in for the benchmark's judge: its logs for one run, with verdicts of chance.

The judge is asked about the values of a key that differ on both sides, unless the tool's
schema already settles them. Its `call_index` counts the answers of a run that are labelled
as calls and not as rejections, as the public evaluator counts them.
"""

import json
import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.sweep.scenarios import AWAITING, BARRED, Document, Scenario
from tests.sweep.world import World, world

ACCEPT_REWORDED = 0.92
ACCEPT_OTHER = 0.12
UNUSABLE = 0.05
WHOLE = re.compile(r"\s*[+-]?\d+\s*")
INSTRUCTIONS = (
    "Match the predicted values of each argument with the actual ones by meaning, one to one, "
    "and count per argument what matches (tp), what is left of the predicted values (fp) and "
    "what is left of the actual ones (fn). Answer with one JSON object."
)


class Merged(NamedTuple):
    """The calls of one answer together: their names, and per key a value for every call."""

    names: list[str]
    arguments: dict[str, list[Any]]

    def logged(self) -> Document:
        """In the shape of the log."""
        return {"function_name": self.names, "arguments": self.arguments}


class Compared(NamedTuple):
    """A key's values as texts: how many agree, and what is left on either side."""

    agreed: int
    predicted: list[str]
    actual: list[str]


def judge_run(scenario: Scenario, answers: list[Document], *, source: str) -> Document:
    """The log of one run, every verdict fixed by the text `source`."""
    here = world(scenario.language)
    inputs: list[Document] = []
    responses: list[Document] = []
    for index, predicted, actual in called_pairs(scenario, answers):
        settled, asked = _sorted_out(predicted, actual, here)
        if not asked:
            continue
        rng = random.Random(f"{source}/{index}")
        verdict = {key: _verdict(asked[key], here.phrases.please, rng) for key in asked}
        tag = f"[ID: EVAL_BATCH_{index}_{index}]"
        question = _question(asked)
        inputs.append(
            {
                "call_index": index,
                "predicted_call": predicted.logged(),
                "actual_call": actual.logged(),
                "auto_results": settled,
                "llm_prompt": question,
                "messages": [
                    {"role": "system", "content": INSTRUCTIONS},
                    {"role": "user", "content": f"{tag}\n\n{question}"},
                ],
            }
        )
        content = f"{tag}\n{_spoken(verdict, rng)}"
        responses.append(
            {
                "call_index": index,
                "llm_response": {"choices": [{"message": {"content": content}}]},
                "parsed_judgement": {},
                "final_metrics": {"call_index": index, **_metrics(settled, verdict)},
            }
        )
    return {"input_data": inputs, "llm_responses": responses, "timestamp": "0.0"}


def called_pairs(
    scenario: Scenario, answers: list[Document]
) -> Iterator[tuple[int, Merged, Merged]]:
    """The answers of a run where calls were due and no rejection was given: index, both sides."""
    index = 0
    for answer in answers:
        label = label_of(scenario, answer)
        if label.get("tool_calls") and not is_rejection(answer):
            yield index, _merged(answer["tool_calls"] or []), _merged(label["tool_calls"])
            index += 1


def label_of(scenario: Scenario, answer: Document) -> Document:
    """The label of a sub-agent's answer, with the calls that are due."""
    step = answer["step_id"]
    label: Document = scenario.document.get(f"{step}-1") or scenario.document.get(step) or {}
    return label


def is_rejection(answer: Document) -> bool:
    """Whether an answer rejects: it names a type of rejection and makes no call."""
    content = answer["content"] or ""
    return not answer["tool_calls"] and (AWAITING in content or BARRED in content)


def _merged(calls: list[Document]) -> Merged:
    merged: dict[str, list[Any]] = {}
    for call in calls:
        text = call["function"]["arguments"]
        try:
            arguments = json.loads(text)
        except ValueError:
            arguments = {"error": f"Invalid JSON in arguments: {text}"}
        for key, value in arguments.items():
            merged.setdefault(key, []).append(value)
    return Merged([call["function"]["name"] for call in calls], merged)


def _sorted_out(
    predicted: Merged, actual: Merged, here: World
) -> tuple[list[Document], dict[str, Compared]]:
    """What comparison settles, and what is left for the judge."""
    settled: list[Document] = []
    asked: dict[str, Compared] = {}
    for key in sorted({*predicted.arguments, *actual.arguments}):
        ours, theirs = predicted.arguments.get(key, []), actual.arguments.get(key, [])
        left, right = {_as_text(v) for v in ours}, {_as_text(v) for v in theirs}
        compared = Compared(len(left & right), sorted(left - right), sorted(right - left))
        if not ours:
            settled.append(_result(key, 0, 0, len(theirs), "key_missing_in_predicted"))
            continue
        if not theirs:
            settled.append(_result(key, 0, len(ours), 0, "key_missing_in_actual"))
            continue
        reason = _schema_reason(key, predicted.names, compared, here)
        if reason is None:
            asked[key] = compared
        else:
            counts = compared.agreed, len(compared.predicted), len(compared.actual)
            settled.append(_result(key, *counts, reason))
    return settled, asked


def _schema_reason(key: str, names: list[str], compared: Compared, here: World) -> str | None:
    """Why the judge is not asked about a key, or nothing if it is."""
    if not (compared.predicted and compared.actual):
        return "exact_comparison"
    known = (here.tools[name].parameters for name in names if name in here.tools)
    schema = next((parameters[key] for parameters in known if key in parameters), {})
    kind = schema.get("type", "string")
    if kind == "integer" and not all(WHOLE.fullmatch(text) for text in compared.predicted):
        return "type_mismatch"
    if kind in ("number", "boolean", "array", "object"):
        return "type_mismatch"
    if "enum" in schema and len(compared.predicted) == len(compared.actual):
        return "enum_exact_comparison"
    pattern = schema.get("pattern")
    if pattern and not all(re.match(pattern, text) for text in compared.predicted):
        return "pattern_mismatch"
    return None


def _as_text(value: object) -> str:
    match value:
        case list():
            return str(sorted(_as_text(item) for item in value))
        case dict():
            return str([(key, _as_text(value[key])) for key in sorted(value)])
        case _:
            return str(value)


def _result(key: str, tp: int, fp: int, fn: int, reason: str) -> Document:
    counts = {"tp_count": tp, "fp_count": fp, "fn_count": fn}
    return {"key": key, **counts, "source": "auto", "reason": reason}


def _verdict(compared: Compared, please: str, rng: random.Random) -> Document:
    """Pair the values off in order; what is only reworded is nearly always accepted."""
    predicted, actual = [*compared.predicted], [*compared.actual]
    matches = []
    for ours in compared.predicted:
        alike = [theirs for theirs in actual if _plain(ours, please) == _plain(theirs, please)]
        theirs = (alike or actual or [""])[0]
        if actual and rng.random() < (ACCEPT_REWORDED if alike else ACCEPT_OTHER):
            matches.append({"predicted": ours, "actual": theirs})
            predicted.remove(ours)
            actual.remove(theirs)
    return {
        "matches": matches,
        "unmatched_predicted": predicted,
        "unmatched_actual": actual,
        "tp_count": len(matches),
        "fp_count": len(predicted),
        "fn_count": len(actual),
    }


def _plain(text: str, please: str) -> str:
    return text.casefold().removesuffix(please).replace(" ", "")


def _spoken(verdict: Document, rng: random.Random) -> str:
    """The verdict the way judges write: fenced, after thinking, in Python's quotes, or unusable."""
    fate = rng.random()
    if fate < UNUSABLE:
        return rng.choice(("I cannot decide.", "```json\n{}\n```", "{'tp_count': "))
    text = json.dumps(verdict, ensure_ascii=False)
    if fate < 0.2:
        return f"<think>{{ compare the meanings }}</think>\n{text}"
    if fate < 0.3:
        return str(verdict)
    return f"```json\n{json.dumps(verdict, ensure_ascii=False, indent=1)}\n```"


def _question(asked: dict[str, Compared]) -> str:
    parts = [
        f"**Argument: {key}:**\n Prediction: '{values.predicted}'\n Actual: '{values.actual}'\n"
        for key, values in asked.items()
    ]
    return "Count TP, FP and FN for each argument:\n\n" + "\n".join(parts)


def _metrics(settled: list[Document], verdict: Document) -> Document:
    counted = [*settled, *verdict.values()]
    tp, fp, fn = (sum(c[k] for c in counted) for k in ("tp_count", "fp_count", "fn_count"))
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}
