"""The sample sweep: same seed same bytes, every shape and every kind of label."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from orchbench_analytics import demo, open_warehouse
from orchbench_analytics.demo import MODEL_COUNT
from orchbench_analytics.outputs.check import UNSUMMED_MISMATCHES
from tests.demo.sweep_documents import MARKERS, documents, sub_agent_labels
from tests.sweep import demo_files
from tests.sweep.models import sweep_models
from tests.sweep.scenarios import build_scenario
from tests.sweep.world import templates, world


@pytest.mark.long
def test_the_archive_is_what_the_generator_writes(demo_directory: Path, tmp_path: Path) -> None:
    """If this fails on purpose, `python -m tests.sweep` writes the archive again."""
    generated = demo_files(tmp_path, models=MODEL_COUNT)

    trees = (demo_directory / "agent_cards", demo_directory / "results")
    files = [path for tree in trees for path in tree.rglob("*") if path.is_file()]
    shipped = {path.relative_to(demo_directory).as_posix(): path.read_bytes() for path in files}
    assert shipped.keys() == generated.keys()
    assert [name for name in shipped if shipped[name] != generated[name]] == []


def test_the_first_models_can_be_had_alone(demo_directory: Path, tmp_path: Path) -> None:
    demo.write_sweep(tmp_path, models=2)

    assert {path.name for path in (tmp_path / "results").iterdir()} == {"perfect", "silent"}
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(
        p.read_bytes() == (demo_directory / p.relative_to(tmp_path)).read_bytes() for p in written
    )
    assert len([*tmp_path.glob("agent_cards/*/*.json")]) == 2 * len(world("EN").agents)


def test_what_the_evaluator_reported_is_what_upstream_scores(demo_directory: Path) -> None:
    warehouse = open_warehouse(demo_directory / "warehouse")

    scores = warehouse.table("scenario_scores").collect()
    reported = scores.filter(profile="reported")
    assert {*reported["model"]} == {"graded-2", "graded-4"}
    assert {*reported["experiment"]} == {"baseline", "worked-examples"}
    keys = ["model", "experiment", "language", "scenario"]
    ours = scores.filter(profile="upstream").join(reported, on=keys, how="semi").sort(keys)
    assert reported.sort(keys)["plan_similarity"].to_list() == ours["plan_similarity"].to_list()
    assert set(warehouse.check().differences["explanation"]) == {UNSUMMED_MISMATCHES}


def test_many_models_have_names_of_their_own_that_are_safe_in_paths() -> None:
    names = [model.name for model in sweep_models(1500, seed=1)]

    assert len({*names}) == 1500
    assert {"perfect", "silent", "graded-6", "graded-0013", "graded-1500"} <= {*names}
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_every_document_has_the_documented_shape(sweep: Path) -> None:
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


def test_every_kind_of_label_occurs_in_both_languages(sweep: Path) -> None:
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


def test_languages_have_scenarios_of_their_own(sweep: Path) -> None:
    english, korean = (
        {d["scenario_id"]: d["history"]["run #1"]["label"] for d in documents(sweep, "silent", x)}
        for x in ("EN", "KO")
    )

    assert len(english) == len(korean) == len(templates())
    assert [*english] != [*korean]
    texts = {
        x: json.dumps([*labels.values()], ensure_ascii=False)
        for x, labels in (("EN", english), ("KO", korean))
    }
    assert not re.search("[가-힣]", texts["EN"])
    assert len(re.findall("[가-힣]", texts["KO"])) > 15_000
    assert len({json.dumps(label) for label in english.values()}) == len(english)


def test_scenarios_of_one_template_differ() -> None:
    built = [build_scenario(7, "EN", str(number), templates()[0]) for number in range(20)]

    assert len({json.dumps(scenario.document) for scenario in built}) == 20


def test_documents_are_as_large_as_real_ones(sweep: Path) -> None:
    sizes = [path.stat().st_size for path in sweep.glob("results/**/*_out.json")]

    assert 30_000 < sum(sizes) / len(sizes) < 65_000
