"""The evaluator's own files: counted by hand here, and compared with our scores by `check`."""

import json
from pathlib import Path

from orchbench_analytics import open_warehouse
from orchbench_analytics.demo import write_sweep
from orchbench_analytics.demo.evaluator import evaluate_scenario, result_file
from orchbench_analytics.demo.labels import Scenario
from tests.conftest import MakeOnce
from tests.demo.sweep_documents import Document
from tests.sample_sweep import build_demo


def call(name: str, **arguments: object) -> Document:
    return {"function": {"name": name, "arguments": json.dumps(arguments)}}


def answer(step: str, *calls: Document, content: str = "") -> Document:
    return {"step_id": step, "content": content, "tool_calls": [*calls]}


def evaluated() -> Document:
    """Three steps of two runs: two where calls are due, one where a rejection is."""
    labels: Document = {
        "2": {"agent_id": "ferry_agent"},
        "2-1": {
            "agent_id": "ferry_agent",
            "tool_calls": [call("bookFerry", seats=2, deck="cabin")],
        },
        "3": {"agent_id": "ferry_agent"},
        "3-1": {"agent_id": "ferry_agent", "tool_calls": [call("findFerries", day="1")]},
        "4": {"agent_id": "ferry_agent", "content": "status: AWAITING_USER_INPUT"},
    }
    rejection = "status: AWAITING_USER_INPUT"
    first = [
        answer("2", call("bookFerry", seats=2)),
        answer("3", call("searchFerries", day="1")),
        answer("4", content=rejection),
    ]
    second = [answer("2", content=rejection), answer("3"), answer("4", call("bookFerry", seats=1))]
    history = {f"run #{n}": {"sub_agent_history": run} for n, run in enumerate((first, second), 1)}
    scenario = Scenario("7", "EN", (), labels)
    return evaluate_scenario(scenario, {"history": history}, path="m/7_out.json")


def test_a_scenario_is_counted_as_by_hand() -> None:
    assert evaluated() == {
        "file_path": "m/7_out.json",
        "arguments_key_score": 0.4167,  # of the runs: (2/3 + 1) / 2, and 0
        "function_name_accuracy": 0.25,  # of the runs: (1 + 0) / 2, and 0
        "total_fc_successful_calls": 3,
        "total_rejection_cases": 2,
        "total_function_call_cases": 4,
        "total_true_positive_reject": 1,
        "total_true_negative_reject": 3,  # silence counts as a call
        "total_false_positive_reject": 1,
        "total_false_negative_reject": 1,
        "total_true_positive_fc": 3,
        "total_false_positive_fc": 1,
        "total_false_negative_fc": 1,
        "total_true_negative_fc": 1,
    }


def test_a_file_adds_its_scenarios_up() -> None:
    other = evaluated() | {"function_name_accuracy": 0.75, "arguments_key_score": 0.5}

    statistics = result_file("m", [evaluated(), other])["overall_statistics"]

    details = statistics["score_details"]
    assert details["function_call_scores"]["function_name_accuracy"] == 0.5
    assert details["function_call_scores"]["overall_function_call_failed_rate"] == 0.25
    decisions = details["call_rejection_scores"]
    assert decisions["reject_decision_performance"]["f1"] == 0.5
    assert decisions["fc_decision_performance"]["f1"] == 0.75
    assert decisions["error_patterns"] == {"overaction_rate": 0.5, "underaction_rate": 0.5}
    assert details["raw_confusion_matrix"]["total_true_negative_reject"] == 6
    assert statistics["key_metrics"] == {"Call Rejection Classification Accuracy": 0.625}


def test_the_evaluators_figures_are_ours(make_once: MakeOnce) -> None:
    warehouse = open_warehouse(make_once("demo", build_demo) / "warehouse")

    reported = warehouse.table("reported_models").collect()

    assert {*reported["experiment"]} == {"baseline", "worked-examples"}
    assert {*reported["language"]} == {"EN", "KO"}
    assert warehouse.check().differences.is_empty()


def test_a_wrong_figure_is_found(tmp_path: Path) -> None:
    options = {"models": 8, "scenarios": 2, "runs": 1, "languages": ("EN",)}
    write_sweep(tmp_path, **options, write_evaluations=True)
    path = tmp_path / "results/graded-2/baseline/evaluation_result_EN.json"
    document = json.loads(path.read_bytes())
    document["detailed_results"][1]["total_true_positive_reject"] += 1
    path.write_text(json.dumps(document), encoding="utf-8")
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(tmp_path / "results", agent_cards=[tmp_path / "agent_cards"], jobs=1)

    differences = warehouse.check().differences

    assert differences["figure"].to_list() == ["total_true_positive_reject"]


def test_evaluations_change_nothing_else(tmp_path: Path) -> None:
    options = {"models": 8, "scenarios": 1, "runs": 1}
    without = write_sweep(tmp_path / "without", **options)
    extended = write_sweep(tmp_path / "with", **options, write_evaluations=True)

    written = [path for path in extended.root.rglob("*") if path.is_file()]
    added = [path for path in written if "evaluation_result" in path.name]
    assert extended.files == len(written) == without.files + len(added)
    for path in {*written} - {*added}:
        assert path.read_bytes() == (without.root / path.relative_to(extended.root)).read_bytes()
