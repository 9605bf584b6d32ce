"""The models: each errs as its name says."""

import json
from collections import Counter
from pathlib import Path

import yaml

from tests.demo.sweep_documents import MARKERS, Document, documents, sub_agent_labels
from tests.sweep.models import named_models


def read_plan(text: str) -> Document:
    text = text.removeprefix("```json\n").removesuffix("\n```")
    if text.startswith("workflow_"):
        return yaml.safe_load(text)
    return json.loads(text[text.index("{") :])


def plan_meaning(plan: Document) -> Document:
    """A plan without its spelling: agents and statuses in order, dependencies as a set."""
    meaning = {}
    for name, body in plan.items():
        after = body.get("depends_on") or body.get("depend_on") or []
        steps = [(s.get("agent_id") or s.get("name"), s["status"]) for s in body["steps"]]
        meaning[name] = (body["status"], {after} if isinstance(after, str) else {*after}, steps)
    return meaning


def test_perfect_answers_with_the_label(sweep: Path) -> None:
    compared: Counter[str] = Counter()
    for document in documents(sweep, "perfect"):
        for run in document["history"].values():
            for entry in run["main_agent_history"]:
                gold = yaml.safe_load(run["label"][str(entry["step_id"])]["content"])
                assert plan_meaning(read_plan(entry["content"])) == plan_meaning(gold)
                compared["plan"] += 1
            answers = {entry["step_id"]: entry for entry in run["sub_agent_history"]}
            for step, entry, gold in sub_agent_labels(run):
                answer = answers.pop(step)
                calls = [call["function"] for call in answer["tool_calls"]]
                if f"{step}-1" in run["label"]:
                    due = [call["function"] for call in gold.get("tool_calls", [])]
                    is_usable = bool(due) and due[0]["name"] != "tool_name"
                    assert calls == due or (calls and not is_usable)
                    compared["call" if is_usable else "unusable"] += 1
                else:
                    typed = [m for m in MARKERS if m in entry["content"]]
                    assert not calls
                    assert (typed or ["AWAITING_USER_INPUT"])[0] in answer["content"]
                    compared["rejection"] += 1
            assert not answers
    assert compared["plan"] > 100
    assert compared["call"] > 300
    assert compared["rejection"] > 100
    assert 0 < compared["unusable"] < 0.06 * compared["call"]


def test_silent_makes_no_call_no_rejection_and_no_plan(sweep: Path) -> None:
    for document in documents(sweep, "silent"):
        for run in document["history"].values():
            entries = [*run["main_agent_history"], *run["sub_agent_history"]]
            assert entries
            for entry in entries:
                assert entry["tool_calls"] == []
                assert entry["content"]
                assert not any(word in entry["content"] for word in (*MARKERS, "workflow_", "{"))


def test_the_characters_do_what_their_names_say(sweep: Path) -> None:
    seen: dict[str, Counter[str]] = {}
    for model in named_models():
        counts = seen[model.name] = Counter()
        for document in documents(sweep, model.name):
            for run in document["history"].values():
                labels = {step: gold for step, _, gold in sub_agent_labels(run)}
                answered = {entry["step_id"] for entry in run["sub_agent_history"]}
                counts["missing"] += len(labels.keys() - answered)
                for entry in run["sub_agent_history"]:
                    content, calls = entry["content"], entry["tool_calls"]
                    rejects = any(m in (content or "") for m in MARKERS) and not calls
                    due = "call" if labels.get(entry["step_id"], {}).get("tool_calls") else "reject"
                    counts["surplus"] += entry["step_id"] not in labels
                    counts[f"{due} due, rejects"] += rejects
                    counts["structured"] += bool(calls)
                    counts["written"] += not calls and '"arguments"' in (content or "")
                    counts["null content"] += content is None
                    counts["null calls"] += calls is None
                    counts["thinks"] += "</think>" in (content or "")

    assert not seen["over-eager"]["reject due, rejects"]
    over_cautious = seen["over-cautious"]["call due, rejects"]
    assert over_cautious == max(counts["call due, rejects"] for counts in seen.values())
    assert seen["text-writer"]["written"] > 200
    assert not seen["text-writer"]["structured"]
    for way in ("missing", "surplus", "null content", "null calls", "written", "thinks"):
        assert seen["format-breaker"][way] > 0, way


def exact_rate(sweep: Path, model: str, experiment: str) -> float:
    """The share of steps with a call due where the calls made equal the label's."""
    right = total = 0
    for document in documents(sweep, model, experiment=experiment):
        for run in document["history"].values():
            answers = {entry["step_id"]: entry for entry in run["sub_agent_history"]}
            for step, _, gold in sub_agent_labels(run):
                due = [call["function"] for call in gold.get("tool_calls", [])]
                made = [c["function"] for c in answers.get(step, {}).get("tool_calls", [])]
                right += bool(due) and made == due
                total += bool(due)
    return right / total


def test_graded_models_err_at_rising_rates(sweep: Path) -> None:
    rates = [exact_rate(sweep, f"graded-{grade}", "baseline") for grade in range(1, 7)]

    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 0.75
    assert rates[-1] < 0.15


def test_an_easier_prompt_makes_errors_rarer(sweep: Path) -> None:
    eased = exact_rate(sweep, "graded-2", "worked-examples")

    assert eased > exact_rate(sweep, "graded-2", "baseline")


def test_runs_differ_less_where_a_model_is_steady(sweep: Path) -> None:
    alike: dict[str, int] = {}
    for model in ("graded-1", "graded-6"):
        alike[model] = sum(
            first == second
            for document in documents(sweep, model)
            for first, second in zip(
                document["history"]["run #1"]["sub_agent_history"],
                document["history"]["run #2"]["sub_agent_history"],
                strict=False,
            )
        )

    assert alike["graded-1"] > alike["graded-6"] > 0
