"""What `phrases.yaml` holds, in one of its languages: the words between the requests."""

import msgspec

from orchbench_analytics.demo.slots import Slot


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds a dialogue together, and the slots that every agent's texts may name."""

    opening: tuple[str, ...]
    first: tuple[str, ...]
    further: tuple[str, ...]
    dependent: tuple[str, ...]
    system: str
    refined_query: str
    bare: str
    closing: tuple[str, ...]
    chatter: tuple[str, ...]
    thought: tuple[str, ...]
    preamble: tuple[str, ...]
    please: str
    unsure: str
    slots: dict[str, Slot]
