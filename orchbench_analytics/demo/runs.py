"""A model's runs over one scenario, as the document the benchmark would have written."""

import random
from dataclasses import dataclass

import msgspec

from orchbench_analytics.demo.call_answers import answer_step
from orchbench_analytics.demo.labels import Document, PlanLabel, Scenario
from orchbench_analytics.demo.luck import Luck
from orchbench_analytics.demo.models import Experiment, Model
from orchbench_analytics.demo.plan_answers import answer_plan
from orchbench_analytics.demo.world import world

SYSTEM_PROMPT_TOKENS = 1800


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario with its label document already encoded, since every run of every model has it."""

    scenario: Scenario
    label: msgspec.Raw
    prompt_tokens: int

    @classmethod
    def of(cls, scenario: Scenario) -> "Prepared":
        """Encode the label document once."""
        label = msgspec.json.encode(scenario.document)
        context = len(label) // (3 if scenario.language == "KO" else 4)
        return cls(scenario, msgspec.Raw(label), SYSTEM_PROMPT_TOKENS + context // 2)


def answer_scenario(
    prepared: Prepared, model: Model, experiment: Experiment, *, runs: int, seed: int
) -> Document:
    """The document of one model, experiment and scenario; its labels are raw JSON."""
    scenario = prepared.scenario
    history: Document = {}
    for run in range(1, runs + 1):
        main, sub = answer_run(scenario, model, experiment, run=run, seed=seed)
        history[f"run #{run}"] = {
            "main_agent_history": main,
            "sub_agent_history": sub,
            "label": prepared.label,
        }
    return {
        "scenario_id": scenario.scenario_id,
        "generated_at": generated_at(seed),
        "history": history,
        "usage": _usage(history, prepared, model),
    }


def answer_run(
    scenario: Scenario, model: Model, experiment: Experiment, *, run: int, seed: int
) -> tuple[list[Document], list[Document]]:
    """The main agent's and the sub-agents' entries; steady models repeat themselves over runs."""
    here = world(scenario.language)
    source = f"{seed}/{model.name}/{experiment.name}/{scenario.language}/{scenario.scenario_id}"
    moods = random.Random(f"{source}/{run}")
    main: list[Document] = []
    sub: list[Document] = []
    for label in scenario.labels:
        is_steady = moods.random() < model.steadiness
        place = f"{source}/{label.step}" if is_steady else f"{source}/{label.step}/{run}"
        luck = Luck(random.Random(place), pressure=label.hardness * experiment.ease)
        if isinstance(label, PlanLabel):
            main += answer_plan(label, model, luck, here)
        else:
            sub += answer_step(label, model, luck, here)
    return main, sub


def generated_at(seed: int) -> str:
    """A time that depends on nothing but the seed."""
    rng = random.Random(f"{seed}/generated_at")
    month, day, hour = rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23)
    return f"2026-{month:02d}-{day:02d}T{hour:02d}:00:00"


def _usage(history: Document, prepared: Prepared, model: Model) -> Document:
    per_token = 2 if prepared.scenario.language == "KO" else 4
    calls = output = 0
    for run in history.values():
        for entry in (*run["main_agent_history"], *run["sub_agent_history"]):
            calls += 1
            written = len(entry["content"] or "") + len(str(entry["tool_calls"] or ""))
            output += 12 + int(written / per_token * model.wordiness)
    tokens_in = calls * prepared.prompt_tokens
    cost = (tokens_in * model.price_in + output * model.price_out) / 1_000_000
    return {
        "total_calls": calls,
        "total_input_tokens": tokens_in,
        "total_output_tokens": output,
        "total_tokens": tokens_in + output,
        "total_cost": round(cost, 6),
    }
