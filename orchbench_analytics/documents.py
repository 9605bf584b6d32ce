"""The shapes of the three kinds of document, typed only as far as every file has them."""

from __future__ import annotations

from typing import Any

import msgspec

_NULL = msgspec.Raw(b"null")


class Entry(msgspec.Struct):
    """What an agent answered, exactly as it stands."""

    step_id: Any = None
    agent_id: Any = None
    content: Any = None
    tool_calls: Any = msgspec.UNSET


class Label(msgspec.Struct):
    """What is expected of a step; most contents are never needed, so they stay undecoded."""

    agent_id: Any = None
    content: msgspec.Raw = _NULL
    tool_calls: Any = msgspec.UNSET


class Run(msgspec.Struct):
    """One run of a scenario: two histories of answers, and the labels, mostly the same in all."""

    main_agent_history: list[Entry]
    sub_agent_history: list[Entry]
    label: msgspec.Raw


class RunsDocument(msgspec.Struct):
    """A scenario file: its runs, each still undecoded so that one can fail alone."""

    history: dict[str, msgspec.Raw]
    scenario_id: Any = None
    generated_at: Any = None
    usage: Any = None


class JudgeLog(msgspec.Struct):
    """What a judge was asked about a run's calls, and what it answered."""

    input_data: list[Any]
    llm_responses: list[Any]


class ResultsDocument(msgspec.Struct):
    """An evaluator's result file."""

    overall_statistics: dict[str, Any]
    detailed_results: list[dict[str, Any]]
    directory: Any = None


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
    directory: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
