"""The sample sweep: same seed same bytes, every shape and every kind of label."""

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.demo import SweepSummary, write_sweep
from orchbench_analytics.demo.characters import CAST, characters
from orchbench_analytics.demo.domain import AGENTS, SLOTS, TOOLS
from orchbench_analytics.demo.domain.parts import Tool
from orchbench_analytics.demo.draw import Draw
from orchbench_analytics.demo.judge import judge_run
from orchbench_analytics.demo.labels import Scenario
from orchbench_analytics.demo.scenario import build_scenario
from orchbench_analytics.demo.slots import Word
from orchbench_analytics.demo.templates import TEMPLATES, Mode

MARKERS = ("AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION")
Document = dict[str, Any]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> SweepSummary:
    root = tmp_path_factory.mktemp("sweep")
    return write_sweep(root, scenarios=len(TEMPLATES), write_judge_logs=True)


def documents(
    sweep: SweepSummary, model: str = "*", language: str = "*", experiment: str = "*"
) -> Iterator[Document]:
    pattern = f"results/{model}/{experiment}/step_wise_evaluation_{language}/*/*_out.json"
    for path in sorted(sweep.root.glob(pattern)):
        yield read(path)


@cache
def read(path: Path) -> Document:
    return json.loads(path.read_bytes())


def sub_agent_labels(run: Document) -> Iterator[tuple[str, Document, Document]]:
    """Each labelled sub-agent step with its own entry and the one that holds its calls."""
    for step, entry in run["label"].items():
        if "-" not in step and "agent_id" in entry:
            yield step, entry, run["label"].get(f"{step}-1", entry)


def read_plan(text: str) -> Document:
    text = text.removeprefix("```json\n").removesuffix("\n```")
    if text.startswith("workflow_"):
        return yaml.safe_load(text)
    return json.loads(text[text.index("{") :])


def plan_meaning(plan: Document) -> Document:
    """A plan without its spelling: agents and statuses in order, dependencies as a set."""
    meaning = {}
    for name, body in plan.items():
        after = body.get("depends_on") or body.get("depend_on") or []
        steps = [(s.get("agent_id") or s.get("name"), s["status"]) for s in body["steps"]]
        meaning[name] = (body["status"], {after} if isinstance(after, str) else {*after}, steps)
    return meaning


def digest(root: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        total.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    options = {"models": 12, "scenarios": 4, "write_judge_logs": True}
    write_sweep(tmp_path / "one", seed=3, **options)
    write_sweep(tmp_path / "two", seed=3, **options)
    write_sweep(tmp_path / "other", seed=4, **options)

    assert digest(tmp_path / "one") == digest(tmp_path / "two")
    assert digest(tmp_path / "one") != digest(tmp_path / "other")


def test_a_scenario_does_not_depend_on_how_many_models_there_are(tmp_path: Path) -> None:
    write_sweep(tmp_path / "few", models=1, scenarios=2)
    write_sweep(tmp_path / "many", models=8, scenarios=2)

    few, many = tmp_path / "few/results/perfect", tmp_path / "many/results/perfect"
    assert digest(few) == digest(many)


def test_the_summary_counts_what_is_there(sweep: SweepSummary) -> None:
    files = [path for path in sweep.root.rglob("*") if path.is_file()]
    experiments = sum(len(character.experiments) for character in CAST)

    assert sweep.models == 12
    assert sweep.files == len(files)
    assert sweep.bytes == sum(path.stat().st_size for path in files)
    assert len(list(documents(sweep))) == experiments * 2 * len(TEMPLATES)
    assert experiments > len(CAST)
    cards = sorted(path.relative_to(sweep.root) for path in sweep.root.glob("agent_cards/*/*"))
    assert len(cards) == 2 * len(AGENTS)


def test_progress_counts_up_to_the_number_of_documents(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    write_sweep(tmp_path, models=2, scenarios=3, progress=lambda *now: told.append(now))

    assert told == [(n, 12) for n in range(1, 13)]


def test_thirty_models_have_names_of_their_own_that_are_safe_in_paths(tmp_path: Path) -> None:
    summary = write_sweep(tmp_path, models=30, scenarios=1, runs=1, languages=("KO",))

    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert summary.models == len(names) == 30
    assert {"perfect", "silent", "graded-6", "graded-0013", "graded-0030"} <= names
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    assert [c.name for c in characters(1500, seed=1)][-1] == "graded-1500"


def test_every_document_has_the_documented_shape(sweep: SweepSummary) -> None:
    for document in documents(sweep):
        assert list(document) == ["scenario_id", "generated_at", "history", "usage"]
        assert list(document["history"]) == ["run #1", "run #2", "run #3"]
        usage = document["usage"]
        assert usage["total_tokens"] == usage["total_input_tokens"] + usage["total_output_tokens"]
        assert usage["total_cost"] > 0
        for run in document["history"].values():
            assert list(run) == ["main_agent_history", "sub_agent_history", "label"]
            assert run["label"]["1"]["role"] in ("system", "user")
            for entry in run["main_agent_history"]:
                assert list(entry) == ["step_id", "role", "content", "tool_calls"]
                assert isinstance(entry["step_id"], int)
            for entry in run["sub_agent_history"]:
                assert list(entry) == ["step_id", "agent_id", "role", "content", "tool_calls"]
                assert isinstance(entry["step_id"], str)


def test_every_kind_of_label_occurs_in_both_languages(sweep: SweepSummary) -> None:
    for language in ("EN", "KO"):
        kinds: Counter[str] = Counter()
        for document in documents(sweep, "perfect", language):
            run = document["history"]["run #1"]
            for entry in run["label"].values():
                if str(entry["content"]).startswith("workflow_"):
                    plan = yaml.safe_load(entry["content"])
                    kinds["plan"] += 1
                    kinds[f"{len(plan)} workflows"] += 1
                    kinds["several steps"] += any(len(w["steps"]) > 1 for w in plan.values())
                    kinds.update(k for w in plan.values() for k in w if "depend" in k)
                    kinds.update(s["status"] for w in plan.values() for s in w["steps"])
            for _, entry, gold in sub_agent_labels(run):
                calls = gold.get("tool_calls", [])
                kinds[f"{len(calls)} calls"] += 1
                if not calls:
                    marker = next((m for m in MARKERS if m in entry["content"]), "untyped")
                    kinds[marker] += 1
        expected = {"plan", "1 workflows", "6 workflows", "several steps", "depend_on"}
        expected |= {"pending", "completed", "canceled", "depends_on", *MARKERS, "untyped"}
        expected |= {"0 calls", "1 calls", "2 calls"}
        assert expected <= {kind for kind, count in kinds.items() if count}, language


def test_languages_have_scenarios_of_their_own(sweep: SweepSummary) -> None:
    english, korean = (
        {d["scenario_id"]: d["history"]["run #1"]["label"] for d in documents(sweep, "silent", x)}
        for x in ("EN", "KO")
    )

    assert len(english) == len(korean) == len(TEMPLATES)
    assert [*english] != [*korean]
    texts = {
        x: json.dumps([*labels.values()], ensure_ascii=False)
        for x, labels in (("EN", english), ("KO", korean))
    }
    assert not re.search("[가-힣]", texts["EN"])
    assert len(re.findall("[가-힣]", texts["KO"])) > 15_000
    assert len({json.dumps(label) for label in english.values()}) == len(english)


def test_scenarios_of_one_template_differ() -> None:
    built = [build_scenario(7, "EN", str(number), TEMPLATES[0]) for number in range(20)]

    assert len({json.dumps(scenario.document) for scenario in built}) == 20


def test_perfect_answers_with_the_label(sweep: SweepSummary) -> None:
    compared: Counter[str] = Counter()
    for document in documents(sweep, "perfect"):
        for run in document["history"].values():
            for entry in run["main_agent_history"]:
                gold = yaml.safe_load(run["label"][str(entry["step_id"])]["content"])
                assert plan_meaning(read_plan(entry["content"])) == plan_meaning(gold)
                compared["plan"] += 1
            answers = {entry["step_id"]: entry for entry in run["sub_agent_history"]}
            for step, entry, gold in sub_agent_labels(run):
                answer = answers.pop(step)
                calls = [call["function"] for call in answer["tool_calls"]]
                if f"{step}-1" in run["label"]:
                    due = [call["function"] for call in gold.get("tool_calls", [])]
                    is_usable = bool(due) and due[0]["name"] != "tool_name"
                    assert calls == due or (calls and not is_usable)
                    compared["call" if is_usable else "unusable"] += 1
                else:
                    typed = [m for m in MARKERS if m in entry["content"]]
                    assert not calls
                    assert (typed or ["AWAITING_USER_INPUT"])[0] in answer["content"]
                    compared["rejection"] += 1
            assert not answers
    assert compared["plan"] > 100
    assert compared["call"] > 300
    assert compared["rejection"] > 100
    assert 0 < compared["unusable"] < 0.06 * compared["call"]


def test_silent_makes_no_call_no_rejection_and_no_plan(sweep: SweepSummary) -> None:
    for document in documents(sweep, "silent"):
        for run in document["history"].values():
            entries = [*run["main_agent_history"], *run["sub_agent_history"]]
            assert entries
            for entry in entries:
                assert entry["tool_calls"] == []
                assert entry["content"]
                assert not any(word in entry["content"] for word in (*MARKERS, "workflow_", "{"))


def test_the_characters_do_what_their_names_say(sweep: SweepSummary) -> None:
    seen: dict[str, Counter[str]] = {}
    for character in CAST:
        counts = seen[character.name] = Counter()
        for document in documents(sweep, character.name):
            for run in document["history"].values():
                labels = {step: gold for step, _, gold in sub_agent_labels(run)}
                answered = {entry["step_id"] for entry in run["sub_agent_history"]}
                counts["missing"] += len(labels.keys() - answered)
                for entry in run["sub_agent_history"]:
                    content, calls = entry["content"], entry["tool_calls"]
                    rejects = any(m in (content or "") for m in MARKERS) and not calls
                    due = "call" if labels.get(entry["step_id"], {}).get("tool_calls") else "reject"
                    counts["surplus"] += entry["step_id"] not in labels
                    counts[f"{due} due, rejects"] += rejects
                    counts["structured"] += bool(calls)
                    counts["written"] += not calls and '"arguments"' in (content or "")
                    counts["null content"] += content is None
                    counts["null calls"] += calls is None
                    counts["thinks"] += "</think>" in (content or "")

    assert not seen["over-eager"]["reject due, rejects"]
    over_cautious = seen["over-cautious"]["call due, rejects"]
    assert over_cautious == max(counts["call due, rejects"] for counts in seen.values())
    assert seen["text-writer"]["written"] > 200
    assert not seen["text-writer"]["structured"]
    for way in ("missing", "surplus", "null content", "null calls", "written", "thinks"):
        assert seen["format-breaker"][way] > 0, way


def exact_rate(sweep: SweepSummary, model: str, experiment: str) -> float:
    """The share of steps with a call due where the calls made equal the label's."""
    right = total = 0
    for document in documents(sweep, model, experiment=experiment):
        for run in document["history"].values():
            answers = {entry["step_id"]: entry for entry in run["sub_agent_history"]}
            for step, _, gold in sub_agent_labels(run):
                due = [call["function"] for call in gold.get("tool_calls", [])]
                made = [c["function"] for c in answers.get(step, {}).get("tool_calls", [])]
                right += bool(due) and made == due
                total += bool(due)
    return right / total


def test_graded_models_err_at_rising_rates(sweep: SweepSummary) -> None:
    rates = [exact_rate(sweep, f"graded-{grade}", "baseline") for grade in range(1, 7)]

    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 0.75
    assert rates[-1] < 0.15


def test_an_easier_prompt_makes_errors_rarer(sweep: SweepSummary) -> None:
    eased = exact_rate(sweep, "graded-2", "worked-examples")

    assert eased > exact_rate(sweep, "graded-2", "baseline")


def test_runs_differ_less_where_a_model_is_steady(sweep: SweepSummary) -> None:
    alike: dict[str, int] = {}
    for model in ("graded-1", "graded-6"):
        alike[model] = sum(
            first == second
            for document in documents(sweep, model)
            for first, second in zip(
                document["history"]["run #1"]["sub_agent_history"],
                document["history"]["run #2"]["sub_agent_history"],
                strict=False,
            )
        )

    assert alike["graded-1"] > alike["graded-6"] > 0


def test_cards_describe_every_tool_and_the_calls_fit_them(sweep: SweepSummary) -> None:
    kinds: set[str] = set()
    for language in ("EN", "KO"):
        tools = {}
        for path in (sweep.root / "agent_cards" / language).iterdir():
            card = json.loads(path.read_bytes())
            assert path.stem == card["agent_card"]["agent_id"]
            assert 2 <= len(card["tools"]) <= 4
            tools |= {tool["name"]: tool["parameters"] for tool in card["tools"]}
        assert tools.keys() == TOOLS.keys()
        for schema in (s for tool in tools.values() for s in tool["properties"].values()):
            kinds |= {schema["type"], *(key for key in ("enum", "pattern") if key in schema)}
        for document in documents(sweep, "perfect", language):
            for _, _, gold in sub_agent_labels(document["history"]["run #1"]):
                for call in gold.get("tool_calls", []):
                    if call["function"]["name"] != "tool_name":
                        check_fits(call["function"], tools)
    assert kinds == {
        *("string", "integer", "number", "boolean", "array", "object", "enum", "pattern")
    }


def check_fits(function: Document, tools: Document) -> None:
    types = {"string": str, "integer": int, "number": int | float, "boolean": bool}
    types |= {"array": list, "object": dict}
    parameters = tools[function["name"]]
    arguments = json.loads(function["arguments"])
    assert {*parameters["required"]} <= arguments.keys()
    for key, value in arguments.items():
        schema = parameters["properties"][key]
        assert isinstance(value, types[schema["type"]])
        assert value in schema.get("enum", [value])
        assert re.match(schema.get("pattern", ""), str(value))


def test_templates_use_every_tool_and_every_mode() -> None:
    moves = {m for template in TEMPLATES for turn in template for task in turn for m in task.moves}

    assert {move.tool for move in moves} == TOOLS.keys()
    assert {move.mode for move in moves} == {*Mode}
    for move in moves:
        for wording in (TOOLS[move.tool].en, TOOLS[move.tool].ko):
            assert wording.missing or move.mode not in (Mode.ASK, Mode.BARE_ASK)
            assert wording.barred or move.mode is not Mode.BARRED
    slots = sum(len(agent.slots) for agent in AGENTS)
    assert len(SLOTS) == slots + 4, "two agents share the name of a slot"


@pytest.mark.parametrize("language", ["EN", "KO"])
@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_every_text_fills(tool: Tool, language: str) -> None:
    draw = Draw(random.Random("a test"), language, SLOTS)
    asks, *texts, missing, barred = tool.wording(language)

    for template in (*asks, *texts, *(missing or ()), *(barred or ())):
        said = draw.text(template, nth=1, varying=tool.varies)
        assert not re.search(r"[{}]", said)
        assert bool(re.search("[가-힣]", said)) == (language == "KO" and bool(template))
    assert tool.missing_keys == () or missing
    assert {*tool.missing_keys} <= tool.arguments.keys()
    assert tool.arguments.keys() <= tool.parameters.keys()


def test_korean_particles_follow_the_sound() -> None:
    said = "{0:을} {0:으로} {1:을} {1:으로} {2:으로} {3:은}".format(
        Word("산장"), Word("나루"), Word("서울"), Word("7")
    )

    assert said == "산장을 산장으로 나루를 나루로 서울로 7은"


def test_judge_logs_repeat_the_calls_they_judge(sweep: SweepSummary) -> None:
    logs = sorted(sweep.root.glob("results/*/*/llm_evaluation_logs_*/*.json"))
    verdicts: Counter[str] = Counter()
    for path in logs:
        log = json.loads(path.read_bytes())
        language = path.parent.name[-2:]
        scenario_id, _, run_name = path.stem.partition("_out_trial_")
        model = path.parts[-4]
        raw = path.parents[1] / f"step_wise_evaluation_{language}" / model
        document = read(raw / f"{scenario_id}_out.json")
        run = document["history"][run_name]
        called = list(called_steps(run))
        assert [i["call_index"] for i in log["input_data"]] == [
            r["call_index"] for r in log["llm_responses"]
        ]
        for item, response in zip(log["input_data"], log["llm_responses"], strict=True):
            step, answer = called[item["call_index"]]
            gold = run["label"][f"{step}-1"]["tool_calls"]
            names = [call["function"]["name"] for call in answer["tool_calls"]]
            assert item["predicted_call"]["function_name"] == names
            assert item["actual_call"]["arguments"]["refinedQuery"] == [
                json.loads(call["function"]["arguments"])["refinedQuery"] for call in gold
            ]
            content = response["llm_response"]["choices"][0]["message"]["content"]
            verdicts["accepts"] += '"tp_count": 1' in content
            verdicts["refuses"] += '"tp_count": 0' in content
            verdicts["unusable"] += "tp_count" not in content
    assert len({path.parts[-4] for path in logs}) == 2
    assert min(verdicts["accepts"], verdicts["refuses"], verdicts["unusable"]) > 0


def called_steps(run: Document) -> Iterator[tuple[str, Document]]:
    labels = {step: gold for step, _, gold in sub_agent_labels(run)}
    for entry in run["sub_agent_history"]:
        rejects = not entry["tool_calls"] and any(m in entry["content"] for m in MARKERS)
        if labels[entry["step_id"]].get("tool_calls") and not rejects:
            yield entry["step_id"], entry


@pytest.mark.parametrize(
    ("predicted", "asked"),
    [
        ({"refinedQuery": "ferries", "travelDate": "2031-05-14"}, ["refinedQuery"]),
        ({"refinedQuery": "Ferries", "travelDate": "2031-05-15"}, ["travelDate"]),
        ({"refinedQuery": "Ferries", "travelDate": "14 May"}, []),  # breaks the pattern
        ({"refinedQuery": "Ferries", "sortBy": "duration"}, []),  # an enum is compared
        ({"refinedQuery": "Ferries", "maxResults": "three"}, []),  # no whole number
        ({"refinedQuery": "Ferries", "maxResults": 4}, ["maxResults"]),
        ({"origin": "Aldmoor"}, []),  # no key in common
    ],
)
def test_the_judge_is_asked_what_the_schema_leaves_open(
    predicted: Document, asked: list[str]
) -> None:
    gold = {"travelDate": "2031-05-14", "sortBy": "fare", "maxResults": 3}
    gold["refinedQuery"] = "Ferries"
    calls = [
        [{"function": {"name": "findFerries", "arguments": json.dumps(arguments)}}]
        for arguments in (predicted, gold)
    ]
    scenario = Scenario("1", "EN", (), {"4": {}, "4-1": {"tool_calls": calls[1]}})
    answer = {"step_id": "4", "content": "", "tool_calls": calls[0]}

    log = judge_run(scenario, [answer], source="a test")

    prompts = [item["llm_prompt"] for item in log["input_data"]]
    assert [key for text in prompts for key in re.findall(r"Argument: (\w+)", text)] == asked


@pytest.mark.parametrize(
    "wrong", [{"models": 0}, {"scenarios": 0}, {"runs": 0}, {"languages": ("FR",)}]
)
def test_a_sweep_of_nothing_is_a_wrong_call(tmp_path: Path, wrong: Document) -> None:
    with pytest.raises(SelectionError):
        write_sweep(tmp_path, **wrong)


def test_documents_are_as_large_as_real_ones(sweep: SweepSummary) -> None:
    sizes = [path.stat().st_size for path in sweep.root.glob("results/**/*_out.json")]

    assert 30_000 < sum(sizes) / len(sizes) < 65_000
