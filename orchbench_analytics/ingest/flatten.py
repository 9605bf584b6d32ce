"""Flattening: documents to rows, as answered; nothing is judged here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from orchbench_analytics.ingest.decode import (
    Entry,
    JudgeLog,
    NoEntry,
    Problem,
    ResultsDocument,
    UnreadableDocument,
    first_places,
    unreadable_parts,
)
from orchbench_analytics.ingest.judge_logs import cut_off_rows, judgement_rows
from orchbench_analytics.ingest.runs import History, ReadRun, ReadRuns, StepLabel, question_before
from orchbench_analytics.texts import calls_text, clean_text, kind_of, text_of

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]
ScenarioKey = tuple[Any, Any, Any, Any]  # model, experiment, language, scenario
RunKey = tuple[Any, Any, Any, Any, str]

_NO_STEP_LABEL: StepLabel = (False, None, None, None, False)
_NO_CALLS: tuple[Any, ...] = (UNSET, None, [], {}, "")
_FIRST = (None, 1)  # numbers of answers: there is none, or it is the first to its step
_COUNTED_IN_DETAIL = ("total_rejection_type_mismatch", "total_failed_generation")
_KEPT_APART = ("detail", "error")  # of a row of a result file: not figures
# Lines of a run's log: what the HTTP library and the benchmark's own logger print.
_HTTP_STATUS = re.compile(r'"HTTP/[0-9.]{1,4} ([0-9]{3})[ "]')
_ERROR_LINE = re.compile(r"^[0-9-]{10} [0-9:.]{8,15} \| ERROR {1,8}\| [^\n]*? - ([^\n]*)", re.M)
_FAILED_REQUEST = re.compile(r"API request failed with status ([0-9]{3})")
_LONGEST_ERROR = 300
_LONGEST_TEXTS = 2**28
_INT64 = range(-(2**63), 2**63)


class StepRow(NamedTuple):
    """A row of `steps`."""

    model: str
    experiment: str
    language: str
    scenario: str
    run: str
    step_id: str
    run_position: int
    has_label: bool
    label_agent_id: str | None
    label_content: str | None
    label_calls: str | None
    has_call_key: bool
    answer_position: int | None = None
    answer_number: int | None = None
    answer_agent_id: str | None = None
    answer_content: str | None = None
    answer_calls: str | None = None
    step_kind: str | None = None
    content_kind: str | None = None
    question: str | None = None
    step_key: str = ""

    @property
    def is_answered(self) -> bool:
        """An answer was given."""
        return self.answer_position is not None


class PlanRow(NamedTuple):
    """A row of `plans`."""

    model: str
    experiment: str
    language: str
    scenario: str
    run: str
    step_id: str
    run_position: int
    is_numbered_run: bool
    label_content: str | None
    answer_position: int | None = None
    answer_number: int | None = None
    answer_content: str | None = None
    step_kind: str | None = None
    content_kind: str | None = None
    question: str | None = None
    plan_key: str = ""


class Flat(NamedTuple):
    """The rows of a document by table, how long their texts are, and what could not be read."""

    rows: Rows
    text_length: int
    problem: Problem | None


def flatten_runs(key: ScenarioKey, read: ReadRuns, *, client_model: str | None = None) -> Flat:
    """Rows of `scenarios`, `steps` and `plans` for a scenario file."""
    document = read.document
    names = document.history.keys()
    numbered = {f"run #{number}" for number in range(1, len(names) + 1)}
    steps: list[StepRow] = []
    plans: list[PlanRow] = []
    for position, name in enumerate(names):
        run = read.runs.get(name)
        if run is not None:
            path = _path(*key, name)
            steps += [
                row._replace(step_key=_row_key(path, row))
                for row in _step_rows((*key, name), position, run)
            ]
            plans += [
                row._replace(plan_key=_row_key(path, row))
                for row in _plan_rows((*key, name), position, run, is_numbered=name in numbered)
            ]
    text_length = _checked_length(
        chain(
            (step.label_content for step in steps),
            (step.label_calls for step in steps),
            (plan.label_content for plan in plans),
            (step.question for step in steps),
            (plan.question for plan in plans),
        )
    )
    labelled = [step for step in steps if step.has_label and step.answer_number in _FIRST]
    answered = sum(len(run.sub_agent_history.entries) for run in read.runs.values())
    unreadable = read.unreadable_runs + read.unreadable_entries
    usage = document.usage if isinstance(document.usage, dict) else {}
    scenario = (
        *key,
        client_model,
        text_of(document.scenario_id),
        text_of(document.generated_at),
        _seconds(document.generated_at),
        len(names),
        len(numbered & names),
        len(labelled),
        sum(step.has_call_key for step in labelled),
        sum(plan.label_content is not None and plan.answer_number in _FIRST for plan in plans),
        sum(plan.answer_position is not None for plan in plans),
        answered,
        sum(step.has_label and not step.is_answered for step in steps),
        sum(plan.answer_position is None for plan in plans),
        sum(map(_is_empty, _entries(read))),
        answered - sum(step.is_answered for step in labelled),
        len(read.unreadable_runs),
        len(read.unreadable_entries),
        first_places(unreadable),
        _least_counter(read),
        _integer(usage.get("total_calls")),
        _integer(usage.get("total_input_tokens")),
        _integer(usage.get("total_output_tokens")),
        _integer(usage.get("total_tokens")),
        _number(usage.get("total_cost")),
        label_signature(run.gold.steps.values() for run in read.runs.values()),
    )
    problem = unreadable_parts(unreadable) or _repeated(read.repeated_keys)
    rows: Rows = {"scenarios": [scenario], "steps": steps, "plans": plans}
    return Flat(rows, text_length, problem)


def label_signature(runs: Iterable[Iterable[StepLabel]]) -> str | None:
    """A hash of the agents and tools that the labels of the first run ask for, in their order.

    Translations of a scenario ask for the same, in words of their own. None without any label.
    """
    asked = [(agent, _tool_names(calls)) for _, agent, _, calls, _ in next(iter(runs), ())]
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:16] if asked else None


@lru_cache(maxsize=4096)
def _tool_names(calls: str | None) -> tuple[str, ...]:
    """The names of gold calls; labels are the same for all models, so few differ."""
    try:
        found = msgspec.json.decode(calls) if calls else []
    except (msgspec.DecodeError, RecursionError):  # nested beyond what can be read
        found = []
    calls_found = found if isinstance(found, list) else []
    return tuple(str(call.get("name")) for call in calls_found if isinstance(call, dict))


def mark_broken_texts(flat: Flat) -> Flat:
    """The rows of a document in which � stands for half a character: such contents are broken."""
    plans = [
        plan._replace(content_kind="broken_text")
        if plan.content_kind == "text" and "\ufffd" in (plan.answer_content or "")
        else plan
        for plan in flat.rows.get("plans", ())
        if isinstance(plan, PlanRow)
    ]
    return flat._replace(rows={**flat.rows, "plans": plans})


def flatten_judge_log(key: Row, log: JudgeLog) -> Flat:
    """Rows of `judgements` for a judge's log of (model, …, run)."""
    rows, unreadable = judgement_rows(key, log)
    text_length = _checked_length(text for row in rows for text in row[-2:])
    judged_at = _seconds(log.timestamp)
    timed = [(*row, judged_at) for row in rows]
    return Flat({"judgements": timed}, text_length, unreadable_parts(unreadable))


def flatten_cut_off_log(key: Row, problem: Problem) -> Flat:
    """The row of `judgements` for a judge's log of (model, …, run) that ends in the middle."""
    words = f"{problem.message}; none of its verdicts counts"
    rows = [(*row, None) for row in cut_off_rows(key)]
    return Flat({"judgements": rows}, 0, problem._replace(message=words))


def flatten_results(key: Row, document: ResultsDocument) -> Flat:
    """Rows of `reported_models` and `reported_scenarios` for a result file of (model, …)."""
    statistics, results = document.overall_statistics, document.detailed_results
    unreadable = []
    if not isinstance(statistics, dict):
        unreadable.append("$.overall_statistics")
        statistics = {}
    if not isinstance(results, list):
        unreadable.append("$.detailed_results")
        results = []
    scenarios = []
    for index, result in enumerate(results):
        if not isinstance(result, dict):
            unreadable.append(f"$.detailed_results[{index}]")
            continue
        path = result.get("file_path")
        name = path.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(path, str) else ""
        scenario = re.sub(r"(_out)?\.json(\.gz|\.zst)?$", "", name) or f"#{index}"
        scenarios += [
            (*key, scenario, figure, value, None)
            for figure, value in _figures(_scenario_figures(result))
        ]
        scenarios += [(*key, scenario, *problem) for problem in _reported_problems(result)]
    models = [(*key, figure, value, None) for figure, value in _figures(statistics)]
    if unreadable and not scenarios and not models:
        raise UnreadableDocument(Problem("wrong_type", "no figures in it", unreadable[0]))
    rows = {"reported_scenarios": scenarios, "reported_models": models}
    return Flat(rows, 0, unreadable_parts(unreadable))


def _scenario_figures(result: dict[str, Any]) -> dict[str, Any]:
    """A row of `detailed_results`; its `detail` repeats it, but for two counts."""
    detail = result.get("detail")
    counted = detail.get("arguments_detail") if isinstance(detail, dict) else None
    counts = counted if isinstance(counted, dict) else {}
    return {name: value for name, value in result.items() if name not in _KEPT_APART} | {
        name: counts[name] for name in _COUNTED_IN_DETAIL if name in counts
    }


def flatten_run_log(key: Row, log: str) -> Flat:
    """The row of `run_logs` for what the benchmark printed while it ran (model, …)."""
    errors = _ERROR_LINE.findall(log)
    refusals = [status for status in _HTTP_STATUS.findall(log) if int(status) >= 400]
    refusals += [match[1] for error in errors if (match := _FAILED_REQUEST.search(error))]
    first = clean_text(errors[0][:_LONGEST_ERROR]) if errors else None
    retries = log.count("Retrying request")
    row = (*key, len(refusals), refusals.count("429"), retries, len(errors), first)
    return Flat({"run_logs": [row]}, 0, None)


def _reported_problems(result: dict[str, Any]) -> Iterable[tuple[str, float | None, str | None]]:
    """What the evaluator says went wrong with a file: errors, and runs it could not judge."""
    details = result.get("detail")
    arguments = details.get("arguments_detail") if isinstance(details, dict) else None
    if "error" in result:
        yield "error", None, text_of(result["error"])
    if isinstance(arguments, dict):
        if "error" in arguments:
            yield "detail.arguments_detail.error", None, text_of(arguments["error"])
        if isinstance(arguments.get("llm_failed_trials"), list):
            failed = float(len(arguments["llm_failed_trials"]))
            yield "detail.arguments_detail.llm_failed_trials", failed, None


def _checked_length(texts: Iterable[str | None]) -> int:
    """The length of all texts; refuses a document whose rows repeat far more than it holds."""
    length = sum(map(len, filter(None, texts)))
    if length > _LONGEST_TEXTS:
        words = "what is said once and answered many times would take too much room"
        raise UnreadableDocument(Problem("too_large", words, "$"))
    return length


def _repeated(keys: list[str]) -> Problem | None:
    if not keys:
        return None
    words = "a key is there more than once in the same object; the last one counts"
    return Problem("duplicate_keys", words, first_places(keys))


def _step_rows(key: RunKey, run_position: int, run: ReadRun) -> list[StepRow]:
    rows = []
    seen: dict[str, int] = {}
    for position, entry in enumerate(run.sub_agent_history.entries):
        step = _step_id(entry.step_id)
        seen[step] = number = seen.get(step, 0) + 1
        answer = (text_of(entry.agent_id), text_of(entry.content), calls_text(entry.tool_calls))
        label = run.gold.steps.get(step) or run.gold.call_keys.get(step, _NO_STEP_LABEL)
        kinds = _kinds(entry)
        step_key = (*key, step, run_position)
        asked = question_before(run.gold, step)
        rows.append(StepRow(*step_key, *label, position, number, *answer, *kinds, asked))
    no_history = _no_history(run.sub_agent_history)
    for step, label in run.gold.steps.items():
        if step not in seen:
            asked = question_before(run.gold, step)
            unanswered = StepRow(*key, step, run_position, *label, step_kind=no_history)
            rows.append(unanswered._replace(question=asked))
    if no_history is not None and not rows:
        rows.append(StepRow(*key, "", run_position, *_NO_STEP_LABEL, step_kind=no_history))
    return rows


def _plan_rows(key: RunKey, run_position: int, run: ReadRun, *, is_numbered: bool) -> list[PlanRow]:
    rows = []
    seen: dict[str, int] = {}
    for position, entry in enumerate(run.main_agent_history.entries):
        step = _plan_step_id(entry.step_id)
        seen[step] = number = seen.get(step, 0) + 1
        label, answer = run.gold.plans.get(step), text_of(entry.content)
        asked = question_before(run.gold, step)
        given = (position, number, answer, *_kinds(entry))
        rows.append(PlanRow(*key, step, run_position, is_numbered, label, *given, question=asked))
    no_history = _no_history(run.main_agent_history)
    for step, label in run.gold.plans.items():
        if step not in seen:
            unanswered = (run_position, is_numbered, label)
            asked = question_before(run.gold, step)
            rows.append(PlanRow(*key, step, *unanswered, step_kind=no_history, question=asked))
    return rows


def _row_key(run: str, row: StepRow | PlanRow) -> str:
    """What tells a row from all others of a warehouse: where it stands, as a path."""
    position = "-" if row.answer_position is None else row.answer_position
    return f"{run}/{_path(row.step_id)}/{position}"


def _path(*names: str) -> str:
    """Names as a path; a name's own `/` is escaped as in a JSON pointer (RFC 6901)."""
    return "/".join(name.replace("~", "~0").replace("/", "~1") for name in names)


def _kinds(entry: Entry) -> tuple[str, str]:
    """What an entry's step id and content are in JSON."""
    if isinstance(entry, NoEntry):
        return "no_object", "absent"
    return kind_of(entry.step_id), kind_of(entry.content)


def _no_history(history: History) -> str | None:
    """What a history is that is not a list, in place of a step id's kind; else null."""
    return None if history.kind in ("list", "empty") else f"history_{history.kind}"


def _step_id(step: Any) -> str:
    return text_of(step) or ""


def _plan_step_id(step: Any) -> str:
    """A planning step counts by its number: 3.0 is step 3."""
    is_whole = isinstance(step, float) and step.is_integer()
    return _step_id(int(step) if is_whole else step)


def _entries(read: ReadRuns) -> Iterable[Entry]:
    """Everything that agents answered, in all runs."""
    for run in read.runs.values():
        yield from run.main_agent_history.entries
        yield from run.sub_agent_history.entries


def _is_empty(entry: Entry) -> bool:
    """Nothing was said and nothing called; an answer that was lost has no entry at all."""
    content = entry.content
    is_blank = content in (None, UNSET) or (isinstance(content, str) and not content.strip())
    return is_blank and entry.tool_calls in _NO_CALLS


def _least_counter(read: ReadRuns) -> int:
    """The answers up to the end of each run, summed over runs.

    The benchmark adds up what its counter says after each run. Every answer takes a call, so a
    file with fewer calls has figures of its own.
    """
    answered = (
        len(run.main_agent_history.entries) + len(run.sub_agent_history.entries)
        for run in read.runs.values()
    )
    return sum(accumulate(answered))


def _seconds(value: Any) -> float | None:
    """A number, also one written as text; none for dates and all else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return _number(value)


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and value in _INT64 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def _figures(values: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, float | None]]:
    """Every number of a nested object by its dotted path; what is not a number is null."""
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _figures(value, f"{path}.")
        elif name != "file_path":
            yield path, _number(value)
