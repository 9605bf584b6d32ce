"""The sample sweep: same seed same bytes, every shape and every kind of label."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from orchbench_analytics.demo import SweepSummary, write_sweep
from orchbench_analytics.demo.models import named_models, sweep_models
from orchbench_analytics.demo.scenario import build_scenario
from orchbench_analytics.demo.world import templates, world
from orchbench_analytics.errors import SelectionError
from tests.demo.sweep_documents import MARKERS, Document, documents, sub_agent_labels


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
    experiments = sum(len(model.experiments) for model in named_models())

    assert sweep.models == 12
    assert sweep.files == len(files)
    assert sweep.bytes == sum(path.stat().st_size for path in files)
    assert len(list(documents(sweep))) == experiments * 2 * len(templates())
    assert experiments > len(named_models())
    cards = sorted(path.relative_to(sweep.root) for path in sweep.root.glob("agent_cards/*/*"))
    assert len(cards) == 2 * len(world("EN").agents)


def test_thirty_models_have_names_of_their_own_that_are_safe_in_paths(tmp_path: Path) -> None:
    summary = write_sweep(tmp_path, models=30, scenarios=1, runs=1, languages=("KO",))

    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert summary.models == len(names) == 30
    assert {"perfect", "silent", "graded-6", "graded-0013", "graded-0030"} <= names
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    assert [c.name for c in sweep_models(1500, seed=1)][-1] == "graded-1500"


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


@pytest.mark.parametrize(
    "wrong", [{"models": 0}, {"scenarios": 0}, {"runs": 0}, {"languages": ("FR",)}]
)
def test_a_sweep_of_nothing_is_a_wrong_call(tmp_path: Path, wrong: Document) -> None:
    with pytest.raises(SelectionError):
        write_sweep(tmp_path, **wrong)


def test_documents_are_as_large_as_real_ones(sweep: SweepSummary) -> None:
    sizes = [path.stat().st_size for path in sweep.root.glob("results/**/*_out.json")]

    assert 30_000 < sum(sizes) / len(sizes) < 65_000
