"""The models of the sweep: each is a set of error rates and habits, nothing else."""

import random
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple


class PlanForm(Enum):
    """How a plan is written down."""

    YAML = auto()
    JSON = auto()
    INDENTED_JSON = auto()
    FENCED_JSON = auto()
    FENCED_YAML = auto()
    PROSE_JSON = auto()


class CallForm(Enum):
    """How calls are written down: as tool calls, or as text in one of several shapes."""

    STRUCTURED = auto()
    TOOL = auto()
    NAME = auto()
    CALL_LIST = auto()
    CALL_TAG = auto()
    FUNCTION_TAG = auto()
    FENCED = auto()


class Experiment(NamedTuple):
    """A prompt variant; ease below 1 makes errors rarer."""

    name: str
    ease: float = 1.0


BASELINE = Experiment("baseline")


@dataclass(frozen=True, slots=True)
class Character:
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
    experiments: tuple[Experiment, ...] = (BASELINE,)
    is_judged: bool = False


def graded(name: str, level: float, *, price_in: float, steadiness: float = 0.6) -> Character:
    """A model that errs everywhere, the more the higher its level (0 to 1)."""
    return Character(
        name,
        no_plan=0.10 * level,
        lost_workflow=0.15 * level,
        extra_workflow=0.12 * level,
        wrong_agent=0.30 * level,
        wrong_status=0.35 * level,
        lost_dependency=0.50 * level,
        extra_dependency=0.25 * level,
        no_answer=0.10 * level,
        needless_rejection=0.25 * level,
        missed_rejection=0.60 * level,
        wrong_type=0.35 * level,
        wrong_tool=0.25 * level,
        lost_call=0.50 * level,
        lost_key=0.25 * level,
        extra_key=0.30 * level,
        wrong_value=0.35 * level,
        reworded=0.40 * level,
        broken=0.04 * level,
        thinks=0.2,
        plan_forms=(PlanForm.YAML, PlanForm.INDENTED_JSON, PlanForm.FENCED_JSON),
        steadiness=steadiness,
        price_in=price_in,
        price_out=round(4.2 * price_in, 3),
    )


MIDDLING = graded("middling", 0.15, price_in=0.9)

CAST: tuple[Character, ...] = (
    Character(
        "perfect",
        plan_forms=(
            PlanForm.YAML,
            PlanForm.JSON,
            PlanForm.INDENTED_JSON,
            PlanForm.FENCED_JSON,
            PlanForm.PROSE_JSON,
        ),
        price_in=9.0,
        price_out=36.0,
    ),
    Character("silent", no_plan=1.0, no_answer=1.0, price_in=0.05, price_out=0.1, wordiness=0.4),
    replace(
        MIDDLING, name="over-eager", missed_rejection=1.0, needless_rejection=0.0, price_in=0.7
    ),
    replace(
        MIDDLING,
        name="over-cautious",
        missed_rejection=0.02,
        needless_rejection=0.4,
        price_in=1.4,
    ),
    replace(
        MIDDLING, name="text-writer", call_forms=tuple(CallForm)[1:], thinks=0.4, wordiness=1.5
    ),
    replace(
        MIDDLING,
        name="format-breaker",
        broken=0.45,
        breaks_everything=True,
        thinks=0.4,
        plan_forms=(
            PlanForm.YAML,
            PlanForm.JSON,
            PlanForm.FENCED_JSON,
            PlanForm.FENCED_YAML,
            PlanForm.PROSE_JSON,
        ),
        call_forms=(CallForm.STRUCTURED, CallForm.STRUCTURED, CallForm.TOOL, CallForm.CALL_TAG),
        steadiness=0.2,
        price_in=0.3,
    ),
    graded("graded-1", 0.04, price_in=11.0, steadiness=0.9),
    replace(
        graded("graded-2", 0.09, price_in=2.6, steadiness=0.8),
        experiments=(BASELINE, Experiment("worked-examples", ease=0.55)),
        is_judged=True,
    ),
    # plans better than its rank, and misses more rejections than it
    replace(
        graded("graded-3", 0.16, price_in=4.4, steadiness=0.7),
        lost_dependency=0.03,
        wrong_status=0.02,
        missed_rejection=0.22,
    ),
    replace(graded("graded-4", 0.26, price_in=0.8), is_judged=True),
    # fills in arguments well, and plans badly
    replace(
        graded("graded-5", 0.40, price_in=1.2, steadiness=0.4), wrong_value=0.08, reworded=0.05
    ),
    graded("graded-6", 0.62, price_in=0.12, steadiness=0.3),
)


def characters(count: int, *, seed: int) -> list[Character]:
    """The first models of the cast, and after it as many graded ones as asked for."""
    further = (_further(number, seed) for number in range(len(CAST) + 1, count + 1))
    return [*CAST[:count], *further]


def _further(number: int, seed: int) -> Character:
    rng = random.Random(f"{seed}/character/{number}")
    level = round(rng.betavariate(1.6, 3.5), 3)
    price = round(0.1 + 8 * (1 - level) ** 3 * rng.uniform(0.3, 1.7), 3)
    base = graded(f"graded-{number:04d}", level, price_in=price, steadiness=rng.uniform(0.3, 0.9))
    return replace(
        base,
        lost_dependency=base.lost_dependency * rng.uniform(0.3, 1.7),
        wrong_agent=base.wrong_agent * rng.uniform(0.3, 1.7),
        missed_rejection=base.missed_rejection * rng.uniform(0.3, 1.6),
        needless_rejection=base.needless_rejection * rng.uniform(0.3, 1.7),
        wrong_value=base.wrong_value * rng.uniform(0.3, 1.7),
        wrong_tool=base.wrong_tool * rng.uniform(0.3, 1.7),
        wordiness=rng.uniform(0.6, 2.0),
    )
