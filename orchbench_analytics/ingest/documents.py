"""The shapes of the documents, typed only as far as every file has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

ABSENT = msgspec.Raw(b"null")


class Problem(NamedTuple):
    """What is wrong with a document: a code, plain words, and the place in it."""

    reason: str
    message: str
    place: str | None = None


class UnreadableDocument(Exception):  # noqa: N818 (a model's or a disk's failure: data, no error)
    """A document that cannot be used."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Entry(msgspec.Struct):
    """What an agent answered, exactly as it stands."""

    step_id: Any = msgspec.UNSET
    agent_id: Any = None
    content: Any = msgspec.UNSET
    tool_calls: Any = msgspec.UNSET


class NoEntry(Entry):
    """An item of a history that is not an object: an answer of which nothing can be read."""


class Label(msgspec.Struct):
    """What is expected of a step; most contents are never needed, so they stay undecoded."""

    agent_id: Any = None
    content: msgspec.Raw = ABSENT
    tool_calls: Any = msgspec.UNSET


class Run(msgspec.Struct):
    """One run of a scenario: two histories of answers, and the labels, mostly the same in all."""

    main_agent_history: msgspec.Raw = ABSENT
    sub_agent_history: msgspec.Raw = ABSENT
    label: msgspec.Raw = ABSENT


class RunsDocument(msgspec.Struct):
    """A scenario file in which every run is an object, as nearly all are."""

    history: dict[str, Run]
    scenario_id: Any = None
    generated_at: Any = None
    usage: Any = None


class DoubtfulRunsDocument(msgspec.Struct):
    """A scenario file with its runs still undecoded, so that one can fail alone."""

    history: dict[str, msgspec.Raw]
    scenario_id: Any = None
    generated_at: Any = None
    usage: Any = None


class JudgeLog(msgspec.Struct):
    """What a judge was asked about a run's calls, and what it answered."""

    llm_responses: list[Any]
    input_data: Any = None
    timestamp: Any = None


class ResultsDocument(msgspec.Struct):
    """An evaluator's result file."""

    overall_statistics: Any
    detailed_results: Any = None


class AgentCard(msgspec.Struct):
    """An agent's card: the schemas of its tools."""

    agent_card: dict[str, Any]
    tools: list[Any]


class Sniffed(msgspec.Struct):
    """Just enough of a document to tell its kind."""

    history: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    overall_statistics: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    llm_responses: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    agent_card: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    directory: Any = None
