"""The scenario templates: who is asked for what, in which order, and what goes wrong.

A template is its turns, a turn is what one user message asks for, and a task becomes a
workflow of the plan. Workflows are numbered through the whole dialogue, from 1.
"""

from enum import Enum, auto
from typing import NamedTuple


class Mode(Enum):
    """What a step of a task comes to."""

    CALL = auto()
    PAIR = auto()  # two calls at once
    ASK = auto()  # something is missing: the user is asked, and answers
    BARE_ASK = auto()  # the same, but the label does not name its type
    BARRED = auto()  # the tool's own limits forbid it


class Move(NamedTuple):
    """One step of a task."""

    tool: str
    mode: Mode


class Task(NamedTuple):
    """A workflow: its steps, and the workflows that come first."""

    moves: tuple[Move, ...]
    after: tuple[int, ...] = ()


Turn = tuple[Task, ...]
Template = tuple[Turn, ...]


def call(tool: str) -> Move:
    """A call."""
    return Move(tool, Mode.CALL)


def pair(tool: str) -> Move:
    """Two calls of one tool at once."""
    return Move(tool, Mode.PAIR)


def ask(tool: str) -> Move:
    """A call that first needs something from the user."""
    return Move(tool, Mode.ASK)


def bare_ask(tool: str) -> Move:
    """A question whose label names no type."""
    return Move(tool, Mode.BARE_ASK)


def barred(tool: str) -> Move:
    """A request that the tool forbids."""
    return Move(tool, Mode.BARRED)


def task(*moves: Move, after: tuple[int, ...] = ()) -> Task:
    """A workflow."""
    return Task(moves, after)


TEMPLATES: tuple[Template, ...] = (
    # a day on the island
    (
        (
            task(call("findFerries")),
            task(call("searchExhibits")),
            task(ask("bookFerry"), after=(1,)),
        ),
        (task(call("bookGuidedTour"), after=(2,)), task(call("setReminder"))),
    ),
    # two islands compared, then a choir too many
    (
        (task(pair("findFerries")),),
        (task(barred("bookFerry"), after=(1,)), task(call("sendPostcard"))),
    ),
    # garden trouble before a holiday
    (
        (task(call("diagnosePlant")), task(call("recommendPlants"))),
        (task(ask("scheduleWatering")), task(call("setReminder"), after=(3,))),
        (task(call("findFerries")),),
    ),
    # a birthday
    (
        (
            task(call("searchBreads"), call("orderBread")),
            task(ask("orderCake")),
            task(call("sendPostcard"), after=(1, 2)),
        ),
        (task(call("setReminder")),),
    ),
    # a long weekend in the hills
    (
        (
            task(call("findTrails")),
            task(call("getSkyForecast")),
            task(call("bookHut"), after=(1,)),
            task(ask("reserveTelescope"), after=(2,)),
        ),
        (task(pair("setReminder"), after=(3, 4)),),
    ),
    # library errands
    (
        (task(call("searchCatalogue")), task(bare_ask("renewLoan"))),
        (task(call("reserveBook"), after=(1,)), task(barred("reserveBook"))),
    ),
    # the sun through a telescope
    (
        (task(pair("getSkyForecast")), task(barred("reserveTelescope"))),
        (task(call("reserveTelescope"), after=(1,)), task(call("sendPostcard"), after=(3,))),
    ),
    # everything at once: six workflows
    (
        (
            task(call("findFerries")),
            task(call("findTrails")),
            task(call("bookFerry"), after=(1,)),
            task(call("bookHut"), after=(2,)),
            task(call("orderBread"), after=(4,)),
            task(call("sendPostcard"), after=(3, 4)),
        ),
        (task(call("cancelFerryBooking"), after=(3,)),),
    ),
    # one short request
    ((task(call("findTrails")),), (task(barred("bookHut"), after=(1,)),)),
    # a damaged path
    (
        (task(ask("reportTrailDamage")), task(pair("findTrails"))),
        (task(call("bookHut"), after=(2,)), task(barred("sendPostcard"))),
    ),
    # museum friends
    (
        (
            task(call("searchExhibits"), ask("bookGuidedTour")),
            task(ask("buyMuseumPass")),
        ),
        (task(pair("sendPostcard"), after=(1,)), task(call("searchCatalogue"))),
    ),
    # a called-off crossing
    (
        (task(ask("cancelFerryBooking")),),
        (task(call("findFerries"), call("bookFerry")), task(barred("renewLoan"))),
        (task(call("setReminder"), after=(2,)),),
    ),
    # the harvest table
    (
        (
            task(call("recommendPlants")),
            task(call("searchBreads")),
            task(pair("orderCake")),
        ),
        (task(barred("scheduleWatering")), task(call("orderBread"), after=(2,))),
    ),
    # a reading night under the stars
    (
        (
            task(pair("searchCatalogue")),
            task(ask("getSkyForecast")),
            task(call("reserveTelescope"), after=(2,)),
            task(call("orderCake")),
        ),
        (task(bare_ask("setReminder"), after=(3,)),),
    ),
    # a question and nothing else
    ((task(bare_ask("sendPostcard")),), (task(call("searchExhibits")),)),
    # the allotment club
    (
        (
            task(pair("diagnosePlant")),
            task(pair("scheduleWatering"), after=(1,)),
            task(barred("orderCake")),
        ),
        (task(ask("orderBread")), task(call("searchCatalogue")), task(ask("reserveBook"))),
    ),
)
