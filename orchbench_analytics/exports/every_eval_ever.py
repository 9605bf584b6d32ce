"""Every Eval Ever, schema 0.3.0: an aggregate document and its instances for each model.

A document is about a model in an experiment and a language. It has the four headline metrics with
their uncertainty. An instance is a scenario under one of the three metrics that are defined for it.
The schema asks for a boolean, `is_correct`, and our scores are graded: it is true if the score is
1, and each metric says so. The figures of a scenario are in the metadata of its instances, as the
evaluator names them; from these `ingest` restores the scores (`ingest/results.py`).
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import duckdb
import msgspec

from orchbench_analytics.exports.documents import (
    BENCHMARK,
    SCORE_TABLES,
    DocumentDirectory,
    Row,
    Score,
    Subject,
    directory_names,
    profile_of,
    rows_of,
    scores_of,
)
from orchbench_analytics.exports.sink import Outgoing
from orchbench_analytics.metrics import LABEL_FIGURES, LABELS, METRICS, SCENARIO_FIGURES, terms_of

SCHEMA_VERSION = "0.3.0"
LIBRARY = "orchbench-analytics"
IS_CORRECT = "is_correct is true if the score is 1; scores are graded from 0 to 1"
# The metric of a model, and what a single scenario has in its place (columns of `scenario_means`).
_INSTANCE_SCORES = {
    "call_rejection_f1": "decision_accuracy",
    "function_call_f1": "file_call_f1",
    "workflow_similarity": "plan_similarity",
}
_INSTANCE_RULES = {
    "average_score": "Mean of the three other metrics; it has no instances of its own.",
    "call_rejection_f1": "An instance's score is the share of the scenario's right decisions.",
    "function_call_f1": "An instance's score is the mean of the scenario's name, key and value F1.",
    "workflow_similarity": "An instance's score is the similarity of the scenario's plans.",
}
_UNKNOWN_MODEL = {"deployment_type": "unknown", "model_availability": "unknown"}
_BYTES = msgspec.json.Encoder(order="deterministic").encode
_STEPS = """
select
    steps.scenario, steps.run_position, steps.step_id, steps.question, steps.answer_agent_id,
    steps.answer_content, steps.answer_calls, steps.answer_position, steps.label_calls,
    steps.label_content, scored.predicted as reading
from main.steps as steps
left join main.scored_steps as scored using (step_key)
where steps.model = $model and steps.experiment = $experiment and steps.language = $language
order by all
"""
_PLANS = """
select
    plans.scenario, plans.run_position, plans.step_id, plans.question,
    cast(null as varchar) as answer_agent_id, plans.answer_content,
    cast(null as varchar) as answer_calls, plans.answer_position,
    cast(null as varchar) as label_calls, plans.label_content, scored.read_as as reading
from main.plans as plans
left join main.scored_plans as scored using (plan_key)
where plans.model = $model and plans.experiment = $experiment and plans.language = $language
order by all
"""
_SCENARIOS = """
select
    scores.*, means.decision_accuracy, means.file_call_f1,
    usage.used_input_token_count, usage.used_output_token_count, usage.used_token_count
from main.scenario_scores as scores
inner join main.scenario_means as means
    using (profile, model, experiment, language, scenario)
left join main.scenario_usage as usage using (model, experiment, language, scenario)
where scores.model = $model and scores.experiment = $experiment and scores.language = $language
order by scores.scenario
"""
# Judge logs name neither the judge nor what all its prompts have in common.
_LLM_SCORING = {
    "judges": [
        {"model_info": {"name": "unknown", "id": "unknown", "additional_details": _UNKNOWN_MODEL}}
    ],
    "input_prompt": "unknown",
    "additional_details": {
        "judged": "argument values that differ as text: how many of them mean the same"
    },
}
_JUDGED = """
select count(*) > 0 from main.scored_arguments
where decided_by = 'judge'
    and model = $model and experiment = $experiment and language = $language
"""


class EveryEvalEver(DocumentDirectory):
    """A directory in the layout of the Every Eval Ever datastore."""

    tables = (
        *SCORE_TABLES,
        *("scenario_means", "scenario_usage"),
        *("steps", "plans", "scored_steps", "scored_plans", "scored_arguments"),
    )

    def documents(self, outgoing: Outgoing) -> Iterator[tuple[str, Iterable[bytes]]]:
        """An aggregate document and its instances for each model, experiment and language."""
        connection = outgoing.connection
        profile = profile_of(connection)
        for subject, scores in scores_of(connection).items():
            for language in sorted({s.language for s in scores} - {"mean"}):
                own = [score for score in scores if score.language == language]
                yield from _documents(connection, subject, language, own, profile)


def _documents(
    connection: duckdb.DuckDBPyConnection,
    subject: Subject,
    language: str,
    scores: Sequence[Score],
    profile: str,
) -> Iterator[tuple[str, Iterable[bytes]]]:
    key = {**subject._asdict(), "language": language}
    name = _uuid(*key.values(), profile)
    directory = f"data/{BENCHMARK}/{_model_id(subject.model)}"
    evaluation_id = f"{BENCHMARK}/{subject.model}/{subject.experiment}/{language}/{profile}"
    instances = [_BYTES(row) + b"\n" for row in _instances(connection, key, evaluation_id)]
    is_judged = rows_of(connection, _JUDGED, **key).item()
    aggregate = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": f"{time.time():.0f}",
        "source_metadata": {
            "source_name": BENCHMARK,
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {
                "profile": profile,
                "experiment": subject.experiment,
                "language": language,
                "directory": _directory(**key),
            },
        },
        "eval_library": {"name": LIBRARY, "version": version(LIBRARY)},
        "model_info": {
            "name": subject.model,
            "id": _model_id(subject.model),
            "additional_details": _UNKNOWN_MODEL,
        },
        "evaluation_results": [_result(score, key, is_judged=is_judged) for score in scores],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{directory}/{name}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(b"".join(instances)).hexdigest(),
            "total_rows": len(instances),
        },
    }
    yield f"{directory}/{name}.json", [msgspec.json.format(_BYTES(aggregate), indent=2), b"\n"]
    yield f"{directory}/{name}_samples.jsonl", instances


def _result(score: Score, key: Mapping[str, str], *, is_judged: bool) -> Row:
    metric = METRICS[score.metric]
    details = {"score_rule": _INSTANCE_RULES[score.metric], "is_correct": IS_CORRECT}
    interval = {
        "lower": score.low,
        "upper": score.high,
        "confidence_level": 0.95,
        "method": "Gaffke's limits over clusters of scenarios and their translations",
    }
    error = {"value": score.standard_error, "method": "jack-knife over clusters of scenarios"}
    uncertainty: Row = {"num_samples": score.scenario_count}
    if score.standard_error is not None:
        uncertainty["standard_error"] = error
    if score.low is not None and score.high is not None:
        uncertainty["confidence_interval"] = interval
    is_of_values = "value_f1_sum" in terms_of([score.metric])
    return {
        "evaluation_result_id": _result_id(key, score.metric),
        "evaluation_name": f"{BENCHMARK} {key['language']}",
        "source_data": {"dataset_name": BENCHMARK, "source_type": "other"},
        "metric_config": {
            "evaluation_description": metric.description,
            "metric_id": f"{BENCHMARK.lower()}.{score.metric}",
            "metric_name": LABELS[score.metric],
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": details,
            **({"llm_scoring": _LLM_SCORING} if is_judged and is_of_values else {}),
        },
        "score_details": {"score": score.value, "uncertainty": uncertainty},
        "generation_config": {
            "additional_details": {"experiment": key["experiment"], "language": key["language"]}
        },
    }


def _instances(
    connection: duckdb.DuckDBPyConnection, key: Mapping[str, str], evaluation_id: str
) -> Iterator[Row]:
    """An instance for each scenario and metric that it has a score for."""
    steps = _turns(connection, _STEPS, key)
    plans = _turns(connection, _PLANS, key)
    for row in rows_of(connection, _SCENARIOS, **key).iter_rows(named=True):
        scenario = row["scenario"]
        figures = {  # without undefined scores: as 0 they would count in means
            name: repr(row[column])
            for name, column in (SCENARIO_FIGURES | {name: name for name in LABEL_FIGURES}).items()
            if row[column] is not None
        }
        metadata = {
            **key,
            "scenario": scenario,
            "profile": row["profile"],
            "is_correct_rule": IS_CORRECT,
        }
        usage = _usage(row)
        for metric, column in _INSTANCE_SCORES.items():
            if row[column] is None:
                continue
            turns = plans if metric == "workflow_similarity" else steps
            yield _instance(
                row[column],
                turns.get(scenario, []),
                evaluation_id=evaluation_id,
                key=key,
                scenario=scenario,
                metric=metric,
            ) | {"metadata": metadata | figures, "token_usage": usage}
            usage = None  # a sum over instances counts a scenario's tokens once


def _instance(
    score: float,
    turns: Sequence[Row],
    *,
    evaluation_id: str,
    key: Mapping[str, str],
    scenario: str,
    metric: str,
) -> Row:
    messages, answers = _messages(turns)
    questions = [message["content"] for message in messages if message["role"] == "user"]
    labels = [turn["label_calls"] or turn["label_content"] for turn in turns]
    called = sum(len(message.get("tool_calls") or ()) for message in messages)
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id,
        "model_id": _model_id(key["model"]),
        "evaluation_name": f"{BENCHMARK} {key['language']}",
        "evaluation_result_id": _result_id(key, metric),
        "sample_id": f"{key['language']}/{scenario}",
        "interaction_type": "agentic",
        "input": {
            "raw": "\n".join(questions[:1]),
            "reference": list(dict.fromkeys(label for label in labels if label)),
        },
        "messages": messages,
        "answer_attribution": answers,
        "evaluation": {
            "score": score,
            "is_correct": score == 1,
            "num_turns": len(messages) or None,
            "tool_calls_count": called,
        },
    }


def _messages(turns: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """What was said in all runs of a scenario, and what was read from each answer."""
    messages: list[Row] = []
    answers: list[Row] = []
    asked = None
    for turn in turns:
        question = (turn["run_position"], turn["question"])
        if turn["question"] is not None and question != asked:
            messages.append(
                {"turn_idx": len(messages), "role": "user", "content": turn["question"]}
            )
        asked = question
        if turn["answer_position"] is None:
            continue
        place = len(messages)
        calls = _calls(turn["answer_calls"], place)
        message = {"turn_idx": place, "role": "assistant", "content": turn["answer_content"]}
        messages.append(message | ({"tool_calls": calls} if calls else {}))
        answers.append(
            {
                "turn_idx": place,
                "source": f"messages[{place}].{'tool_calls' if calls else 'content'}",
                "extracted_value": turn["reading"] or "",
                "extraction_method": "custom",
                "is_terminal": True,
            }
        )
    return messages, answers


def _calls(text: str | None, turn: int) -> list[Row]:
    """The calls of an answer; arguments that are not an object stand under one name."""
    try:
        calls = msgspec.json.decode(text) if text else []
    except (msgspec.DecodeError, RecursionError):
        return []
    found = []
    for number, call in enumerate(calls if isinstance(calls, list) else []):
        inner = call.get("flat", call) if isinstance(call, dict) else {}
        inner = inner if isinstance(inner, dict) else {}
        given = inner.get("arguments")
        if isinstance(given, str):
            try:
                given = msgspec.json.decode(given)
            except (msgspec.DecodeError, RecursionError):
                given = {"arguments": given}
        arguments = given if isinstance(given, dict) else {"arguments": given}
        found.append(
            {
                "id": f"{turn}-{number}",
                "name": _text(inner.get("name")),
                "arguments": {str(name): _text(value) for name, value in arguments.items()},
            }
        )
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _usage(row: Row) -> Row | None:
    names = ("used_input_token_count", "used_output_token_count", "used_token_count")
    counts = [row[name] for name in names]
    if any(count is None or count < 0 for count in counts):
        return None
    return dict(zip(("input_tokens", "output_tokens", "total_tokens"), counts, strict=True))


def _turns(
    connection: duckdb.DuckDBPyConnection, query: str, key: Mapping[str, str]
) -> dict[str, list[Row]]:
    turns: dict[str, list[Row]] = {}
    for row in rows_of(connection, query, **key).iter_rows(named=True):
        turns.setdefault(row["scenario"], []).append(row)
    return turns


def _result_id(key: Mapping[str, str], metric: str) -> str:
    return f"{key['language']}/{metric}"


def _directory(*, model: str, experiment: str, language: str) -> str:
    """The directory that the benchmark has for such results, which says whose they are."""
    return f"{model}/{experiment}/step_wise_evaluation_{language}/{model}"


def _model_id(model: str) -> str:
    """Who made the model, if its name says so, and the model: two directories of the datastore."""
    developer, name = model.split("/", 1) if "/" in model else ("unknown", model)
    plain = directory_names([developer, name])
    return f"{plain[developer]}/{plain[name]}"


def _uuid(*names: str) -> str:
    """An identifier in the form of a random UUID that is the same for the same names."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))
