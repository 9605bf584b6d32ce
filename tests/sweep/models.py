"""The models of the sweep: each is a set of error rates and habits, nothing else.

The models with a name of their own are in `models.yaml`; further ones are drawn by chance.
"""

import random
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

MODELS = Path(__file__).with_name("models.yaml")


class PlanForm(Enum):
    """How a plan is written down."""

    YAML = "yaml"
    JSON = "json"
    INDENTED_JSON = "indented_json"
    FENCED_JSON = "fenced_json"
    FENCED_YAML = "fenced_yaml"
    PROSE_JSON = "prose_json"


class CallForm(Enum):
    """How calls are written down: as tool calls, or as text in one of several shapes."""

    STRUCTURED = "structured"
    TOOL = "tool"
    NAME = "name"
    CALL_LIST = "call_list"
    CALL_TAG = "call_tag"
    FUNCTION_TAG = "function_tag"
    FENCED = "fenced"


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A prompt variant; ease below 1 makes errors rarer."""

    name: str
    ease: float = 1.0


class Model(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a model errs (chances from 0 to 1), how it writes, and what it costs."""

    name: str
    # plans
    no_plan: float = 0.0
    lost_workflow: float = 0.0
    extra_workflow: float = 0.0
    wrong_agent: float = 0.0
    wrong_status: float = 0.0
    lost_dependency: float = 0.0
    extra_dependency: float = 0.0
    # decisions
    no_answer: float = 0.0
    needless_rejection: float = 0.0
    missed_rejection: float = 0.0
    wrong_type: float = 0.0
    # calls
    wrong_tool: float = 0.0
    lost_call: float = 0.0
    lost_key: float = 0.0
    extra_key: float = 0.0
    wrong_value: float = 0.0
    reworded: float = 0.0
    # form
    broken: float = 0.0
    breaks_everything: bool = False
    thinks: float = 0.0
    plan_forms: tuple[PlanForm, ...] = (PlanForm.YAML,)
    call_forms: tuple[CallForm, ...] = (CallForm.STRUCTURED,)
    steadiness: float = 0.6  # the share of steps answered alike in every run
    # the rest
    wordiness: float = 1.0
    price_in: float = 1.0  # per million tokens
    price_out: float = 4.0
    experiments: tuple[Experiment, ...] = (Experiment("baseline"),)
    is_judged: bool = False


GRADED_PLAN_FORMS = ("yaml", "indented_json", "fenced_json")


class _ModelsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    graded: dict[str, float]
    named: list[dict[str, Any]]


@cache
def _models() -> _ModelsFile:
    return msgspec.yaml.decode(MODELS.read_bytes(), type=_ModelsFile)


def named_models() -> list[Model]:
    """The models with names of their own."""
    return [_model(**entry) for entry in _models().named]


def sweep_models(count: int, *, seed: int) -> list[Model]:
    """The first of the named models, and after them as many graded ones as asked for."""
    named = named_models()
    further = (_further(number, seed) for number in range(len(named) + 1, count + 1))
    return [*named[:count], *further]


def _model(*, level: float | None = None, **more: object) -> Model:
    """A model; one with a level errs everywhere, the more the higher it is (0 to 1)."""
    if level is not None:
        rates = {name: rate * level for name, rate in _models().graded.items()}
        more = {**rates, "thinks": 0.2, "plan_forms": GRADED_PLAN_FORMS, **more}
    return msgspec.convert(more, Model)


def _further(number: int, seed: int) -> Model:
    rng = random.Random(f"{seed}/character/{number}")
    level = round(rng.betavariate(1.6, 3.5), 3)
    price = round(0.1 + 8 * (1 - level) ** 3 * rng.uniform(0.3, 1.7), 3)
    base = _model(
        level=level,
        name=f"graded-{number:04d}",
        steadiness=rng.uniform(0.3, 0.9),
        price_in=price,
        price_out=round(4.2 * price, 3),
    )
    return msgspec.structs.replace(
        base,
        lost_dependency=base.lost_dependency * rng.uniform(0.3, 1.7),
        wrong_agent=base.wrong_agent * rng.uniform(0.3, 1.7),
        missed_rejection=base.missed_rejection * rng.uniform(0.3, 1.6),
        needless_rejection=base.needless_rejection * rng.uniform(0.3, 1.7),
        wrong_value=base.wrong_value * rng.uniform(0.3, 1.7),
        wrong_tool=base.wrong_tool * rng.uniform(0.3, 1.7),
        wordiness=rng.uniform(0.6, 2.0),
    )
