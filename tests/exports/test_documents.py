"""Documents for others: valid in their words, and the same scores when they come back."""

import json
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from jsonschema import Draft7Validator

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.warehouse import Warehouse
from tests.conftest import MakeOnce
from tests.documents import run, runs_document, scenario_path, write

Document = dict[str, Any]
Exported = Callable[[str], Path]


@pytest.fixture(scope="module")
def exported(make_once: MakeOnce, demo: Warehouse) -> Exported:
    """Where the demo's scores under a profile are written for Every Eval Ever, only to be read."""

    def place(profile: str) -> Path:
        return make_once(f"eee_{profile}", lambda to: demo.export(f"eee:{to}", profile=profile))

    return place


def aggregates(directory: Path) -> dict[tuple[str, ...], Document]:
    """The aggregate documents by model, experiment and language."""
    found = {}
    for path in (directory / "data").rglob("*.json"):
        document = json.loads(path.read_bytes())
        details = document["source_metadata"]["additional_details"]
        key = (document["model_info"]["name"], details["experiment"], details["language"])
        found[key] = document
    return found


def instances(directory: Path) -> Iterator[Document]:
    for path in (directory / "data").rglob("*_samples.jsonl"):
        for line in path.read_bytes().splitlines():
            yield json.loads(line)


def scores_in(directory: Path) -> dict[tuple[str, ...], float]:
    """Every score of an export, by what it is about."""
    found = {
        (*key, result["evaluation_result_id"]): result["score_details"]["score"]
        for key, document in aggregates(directory).items()
        for result in document["evaluation_results"]
    }
    for row in instances(directory):
        said = row["metadata"]
        key = (said["model"], said["experiment"], row["evaluation_result_id"], said["scenario"])
        found[key] = row["evaluation"]["score"]
    return found


def schema(name: str) -> Draft7Validator:
    """A schema of the wheel, which is installed for it alone; it needs a newer Python to run."""
    wheel = find_spec("every_eval_ever")
    if wheel is None or wheel.origin is None:
        pytest.skip("every-eval-ever is not installed; `make test` installs it")
    return Draft7Validator(json.loads((Path(wheel.origin).parent / "schemas" / name).read_bytes()))


@pytest.mark.parametrize("profile", ["spec", "upstream"])
def test_every_eval_ever_is_valid(demo: Warehouse, exported: Exported, profile: str) -> None:
    found = aggregates(exported(profile))
    validator = schema("eval.schema.json")
    assert [e.message for d in found.values() for e in validator.iter_errors(d)] == []
    assert {key[:2] for key in found} == set(demo.models().select("model", "experiment").rows())
    rows = list(instances(exported(profile)))
    validator = schema("instance_level_eval.schema.json")
    assert [e.message for row in rows for e in validator.iter_errors(row)] == []
    assert len(rows) == sum(
        document["detailed_evaluation_results"]["total_rows"] for document in found.values()
    )


def test_every_eval_ever_has_the_scores_and_their_uncertainty(
    demo: Warehouse, exported: Exported
) -> None:
    document = aggregates(exported("spec"))["graded-1", "baseline", "EN"]
    wanted = demo.intervals(models=["graded-1"], languages=["EN"], metrics=HEADLINE)
    for row in wanted.filter(language="EN").iter_rows(named=True):
        (result,) = (
            result
            for result in document["evaluation_results"]
            if result["metric_config"]["metric_id"].endswith(f".{row['metric']}")
        )
        assert result["score_details"]["score"] == pytest.approx(row["value"], abs=1e-12)
        uncertainty = result["score_details"]["uncertainty"]
        assert uncertainty["standard_error"]["value"] == pytest.approx(row["standard_error"])
        interval = uncertainty["confidence_interval"]
        assert (interval["lower"], interval["upper"]) == pytest.approx((row["low"], row["high"]))


def test_every_eval_ever_names_a_judge_where_one_decided(
    demo: Warehouse, exported: Exported
) -> None:
    """The judge decides on values, so on FC and on Average, of the models that have verdicts."""
    judged = {
        (*key, result["metric_config"]["metric_id"].rpartition(".")[2])
        for key, document in aggregates(exported("spec")).items()
        for result in document["evaluation_results"]
        if "llm_scoring" in result["metric_config"]
    }

    decided = demo.sql(
        "select distinct model, experiment, language from main.scored_arguments "
        "where profile = 'spec' and decided_by = 'judge'"
    ).rows()
    assert decided
    assert judged == {
        (*key, metric) for key in decided for metric in ("average_score", "function_call_f1")
    }


def test_an_instance_says_what_was_asked_called_and_read(exported: Exported) -> None:
    rows = [r for r in instances(exported("spec")) if r["metadata"]["model"] == "perfect"]
    called = [r for r in rows if r["evaluation"]["tool_calls_count"]]
    assert called
    assert {row["interaction_type"] for row in rows} == {"agentic"}
    for row in called:
        assert row["evaluation"]["is_correct"] == (row["evaluation"]["score"] == 1)
        calls = [c for m in row["messages"] for c in m.get("tool_calls", ())]
        assert len(calls) == row["evaluation"]["tool_calls_count"]
        assert all(
            row["messages"][a["turn_idx"]]["role"] == "assistant" for a in row["answer_attribution"]
        )


@pytest.mark.parametrize(
    "profile", ["spec", *(pytest.param(p, marks=pytest.mark.long) for p in ("upstream", "strict"))]
)
def test_every_score_bit_survives_export_import_and_export(
    exported: Exported, tmp_path: Path, profile: str
) -> None:
    imported = open_warehouse(tmp_path / "warehouse", create=True)
    summary = imported.ingest(exported(profile), jobs=1)
    imported.export(f"eee:{tmp_path / 'again'}")

    assert not summary.refused
    first, second = scores_in(exported(profile)), scores_in(tmp_path / "again")
    assert len(first) > 200
    assert first == second


def test_undefined_scores_come_back_undefined(tmp_path: Path) -> None:
    """A scenario without labelled calls has no FC, and none counts in the mean over scenarios."""
    without_call = run()
    for step in ("3", "3-1", "3-2"):
        del without_call["label"][step]
    del without_call["sub_agent_history"][0]
    results = tmp_path / "results"
    write(scenario_path(results, scenario="1"), runs_document())
    write(scenario_path(results, scenario="2"), runs_document({"run #1": without_call}))
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(results, jobs=1)

    warehouse.export(f"eee:{tmp_path / 'out'}", profile="spec")
    imported = open_warehouse(tmp_path / "imported", create=True)
    imported.ingest(tmp_path / "out", jobs=1)

    scores = ["name_f1", "key_f1", "value_f1", "plan_similarity", "read_plan_similarity"]
    first = warehouse.table("scenario_scores").filter(profile="spec").select("scenario", *scores)
    second = imported.table("scenario_scores").select("scenario", *scores)
    assert first.collect().row(1)[:2] == ("2", None)
    assert second.collect().equals(first.collect())
    for holder, profile in ((warehouse, "spec"), (imported, "reported")):
        board = holder.leaderboard(profile=profile)
        assert board["function_call_f1"].to_list() == [1.0]


def test_instances_that_do_not_belong_to_a_document_are_refused(
    exported: Exported, tmp_path: Path
) -> None:
    shutil.copytree(exported("spec"), tmp_path / "out")
    path = next((tmp_path / "out").rglob("*_samples.jsonl"))
    path.write_bytes(path.read_bytes().replace(b'"spec"', b'"mine"', 1))

    imported = open_warehouse(tmp_path / "warehouse", create=True)
    imported.ingest(tmp_path / "out", jobs=1)

    assert imported.sources().filter(status="refused")["reason"].to_list() == ["changed_instances"]


def test_lm_eval_has_the_figures_of_the_leaderboard(demo: Warehouse, tmp_path: Path) -> None:
    demo.export(f"lm-eval:{tmp_path / 'out'}", profile="upstream")

    written = json.loads((tmp_path / "out/graded-1/baseline/results.json").read_bytes())
    board = demo.leaderboard(profile="upstream")
    row = board.filter(model="graded-1").row(0, named=True)
    figures = written["results"]["OrchestrationBench"]
    assert figures["Overall,none"] == row["average_score"]
    assert figures["Plan,none"] == row["workflow_similarity"]
    assert figures["Call_Rejection,none"] == row["call_rejection_f1"]
    assert {"Plan_EN,none", "FC_KO,none", "Average_EN_stderr,none"} <= figures.keys()


def test_lm_eval_is_read_as_reported_figures(demo: Warehouse, tmp_path: Path) -> None:
    demo.export(f"lm-eval:{tmp_path / 'out'}", profile="upstream")
    path = tmp_path / "out/graded-1/baseline/results.json"

    imported = open_warehouse(tmp_path / "warehouse", create=True)
    imported.ingest(path, jobs=1)

    written = json.loads(path.read_bytes())["results"]["OrchestrationBench"]
    read = imported.table("reported_models").collect()
    assert set(read["model"]) == {"graded-1"}
    assert dict(read.select("figure", "value").rows()) == {
        name.split(",")[0]: value for name, value in written.items() if name != "alias"
    }


def test_hugging_face_has_results_for_cards_and_a_dataset(demo: Warehouse, tmp_path: Path) -> None:
    demo.export(f"hf:{tmp_path / 'out'}", profile="spec")

    card = tmp_path / "out/models/perfect/.eval_results/orchestrationbench.yaml"
    entries = yaml.safe_load(card.read_text(encoding="utf-8"))
    values = {entry["dataset"]["task_id"]: entry["value"] for entry in entries}
    assert values["average_score_mean"] == 1.0
    dataset = tmp_path / "out/dataset"
    _, head, _ = (dataset / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    configs = yaml.safe_load(head)["configs"]
    for config in configs:
        rows = duckdb.sql(f"from '{dataset / config['data_files']}'").pl()
        assert len(rows) > 0
    assert {config["config_name"] for config in configs} >= {"leaderboard", "scenario_scores"}


def test_experiments_of_a_model_have_files_of_their_own(demo: Warehouse, tmp_path: Path) -> None:
    demo.export(f"hf:{tmp_path / 'out'}")

    names = [p.name for p in (tmp_path / "out/models/graded-2/.eval_results").iterdir()]
    assert sorted(names) == [
        "orchestrationbench-baseline.yaml",
        "orchestrationbench-worked-examples.yaml",
    ]


def test_the_same_documents_are_not_written_again(demo: Warehouse, tmp_path: Path) -> None:
    demo.export(f"eee:{tmp_path / 'out'}")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}

    summary = demo.export(f"eee:{tmp_path / 'out'}")

    assert summary.is_unchanged
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before


def test_a_changed_document_is_written_again(demo: Warehouse, tmp_path: Path) -> None:
    demo.export(f"lm-eval:{tmp_path / 'out'}")
    path = tmp_path / "out/perfect/baseline/results.json"
    path.write_text("{}", encoding="utf-8")

    summary = demo.export(f"lm-eval:{tmp_path / 'out'}")

    assert summary.repaired == ["perfect/baseline/results.json"]
    assert "results" in json.loads(path.read_bytes())


def test_documents_choose_their_tables(demo: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(PathError, match="leave out --star and --table"):
        demo.export(f"eee:{tmp_path / 'out'}", tables=["leaderboard"])
