"""What `scenarios.yaml` holds: who is asked for what, in which order, and what goes wrong."""

from enum import Enum
from typing import NamedTuple

import msgspec


class Mode(Enum):
    """What a step of a task comes to."""

    CALL = "call"
    PAIR = "pair"  # two calls at once
    ASK = "ask"  # something is missing: the user is asked, and answers
    BARE_ASK = "bare_ask"  # the same, but the label does not name its type
    BARRED = "barred"  # the tool's own limits forbid it


class Move(NamedTuple):
    """One step of a task."""

    mode: Mode
    tool: str


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A workflow: its steps, and the workflows that come first."""

    steps: tuple[Move, ...]
    after: tuple[int, ...] = ()


Turn = tuple[Task, ...]
Template = tuple[Turn, ...]
