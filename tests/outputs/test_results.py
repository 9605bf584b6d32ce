"""The seed's result JSON: its nesting, its names, and how figures are rounded."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.results import overall_statistics, result_document
from orchbench_analytics.profiles import SPEC, UPSTREAM
from orchbench_analytics.warehouse import Warehouse
from tests.documents import run, runs_document, scenario_path, write

OVERALL_PATHS = """
total_files
successful_evaluations
failed_evaluations
total_failed_workflow_generation
total_comparison_steps_evaluated
key_metrics.Average
key_metrics.Call Rejection Classification Accuracy
key_metrics.FC
key_metrics.Plan
score_details.workflow_scores.workflow_evaluation_with_failure
score_details.workflow_scores.workflow_evaluation_without_failure
score_details.workflow_scores.average_structural_GED
score_details.workflow_scores.average_component_GED
score_details.function_call_scores.function_name_accuracy
score_details.function_call_scores.arguments_key_score
score_details.function_call_scores.arguments_value_score_not_count_rejection
score_details.function_call_scores.overall_function_call_failed_rate
score_details.function_call_scores.total_fc_successful_calls
score_details.function_call_scores.total_function_call_cases
score_details.call_rejection_scores.total_rejection_cases
score_details.call_rejection_scores.reject_decision_performance.precision
score_details.call_rejection_scores.reject_decision_performance.recall
score_details.call_rejection_scores.reject_decision_performance.f1
score_details.call_rejection_scores.reject_decision_performance.accuracy
score_details.call_rejection_scores.fc_decision_performance.precision
score_details.call_rejection_scores.fc_decision_performance.recall
score_details.call_rejection_scores.fc_decision_performance.f1
score_details.call_rejection_scores.fc_decision_performance.accuracy
score_details.call_rejection_scores.error_patterns.overaction_rate
score_details.call_rejection_scores.error_patterns.underaction_rate
score_details.call_rejection_scores.error_patterns.type_mismatch_rate
score_details.call_rejection_scores.rejection_type_accuracy
score_details.call_rejection_scores.total_rejection_type_mismatch
score_details.call_rejection_scores.total_failed_generation
score_details.raw_confusion_matrix.total_true_positive_reject
score_details.raw_confusion_matrix.total_true_negative_reject
score_details.raw_confusion_matrix.total_false_positive_reject
score_details.raw_confusion_matrix.total_false_negative_reject
score_details.raw_confusion_matrix.total_true_positive_fc
score_details.raw_confusion_matrix.total_false_positive_fc
score_details.raw_confusion_matrix.total_false_negative_fc
score_details.raw_confusion_matrix.total_true_negative_fc
""".strip().splitlines()
# A row of `detailed_results`; ours also says which scenario it is about.
DETAILED_NAMES = """
file_path
workflow_evaluation_with_failure
workflow_evaluation_without_failure
average_structural_GED
average_component_GED
failed_workflow_generation
total_comparison_steps_evaluated
arguments_key_score
arguments_value_score_not_count_rejection
total_fc_successful_calls
total_rejection_cases
total_true_positive_reject
total_true_negative_reject
total_false_positive_reject
total_false_negative_reject
total_true_positive_fc
total_false_positive_fc
total_false_negative_fc
total_true_negative_fc
total_function_call_cases
function_name_accuracy
total_rejection_type_mismatch
total_failed_generation
""".strip().splitlines()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that is wrong in a third of its calls, one without labels, and a broken file."""
    root = tmp_path_factory.mktemp("results")
    history = {f"run #{n}": run() for n in (1, 2, 3)}
    history["run #1"]["sub_agent_history"] = []
    write(scenario_path(root), runs_document(history))
    write(scenario_path(root, scenario="13"))
    write(scenario_path(root, scenario="14"), b"{")
    write(scenario_path(root, language="KO"))
    write(scenario_path(root, "unlabelled"), runs_document({"run #1": run(label={})}))
    return root


@pytest.fixture(scope="module")
def warehouse(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    made = open_warehouse(tmp_path_factory.mktemp("w") / "warehouse", create=True)
    made.ingest(tree)
    return made


def paths(value: Any, prefix: str = "") -> list[str]:
    """The dotted path of every leaf, in order."""
    if not isinstance(value, dict):
        return [prefix]
    return [
        path
        for name, item in value.items()
        for path in paths(item, f"{prefix}.{name}" if prefix else name)
    ]


class TestNesting:
    @pytest.mark.parametrize("profile", ["spec", "strict", "upstream"])
    def test_nesting_and_names_are_the_seeds(self, warehouse: Warehouse, profile: str) -> None:
        document = warehouse.results("m", language="EN", profile=profile)

        assert list(document) == ["directory", "profile", "overall_statistics", "detailed_results"]
        assert document["profile"] == profile
        assert paths(document["overall_statistics"]) == OVERALL_PATHS
        for row in document["detailed_results"][:-1]:
            assert [name for name in row if name != "scenario"] == DETAILED_NAMES

    def test_nesting_and_names_are_those_of_the_evaluators_files(
        self, conformance_pack: Path
    ) -> None:
        for path in conformance_pack.glob("results/*/*/evaluation_result_*.json"):
            document = json.loads(path.read_bytes())

            assert list(document) == ["directory", "overall_statistics", "detailed_results"]
            assert set(paths(document["overall_statistics"])) == set(OVERALL_PATHS)
            for row in document["detailed_results"]:
                assert "error" in row or row.keys() - {"detail"} == set(DETAILED_NAMES[:-2])

    def test_it_can_be_written_as_json(self, warehouse: Warehouse) -> None:
        document = warehouse.results("m", language="EN")

        assert json.loads(json.dumps(document, allow_nan=False)) == document

    def test_figures_are_numbers_and_counts_are_whole(self, warehouse: Warehouse) -> None:
        document = warehouse.results("m", language="EN")

        for values in (document["overall_statistics"], document["detailed_results"][0]):
            for path in paths(values):
                value: Any = values
                for name in path.split("."):
                    value = value[name]
                last = path.rpartition(".")[2]
                is_count = last.startswith(("total_", "failed_", "successful_"))
                is_text = last in ("file_path", "scenario")
                expected = str if is_text else int if is_count else float
                assert type(value) is expected, path


class TestFiles:
    def test_every_file_has_its_path_and_a_broken_one_its_reason(
        self, warehouse: Warehouse, tree: Path
    ) -> None:
        document = warehouse.results("m", language="EN")

        files = [row["file_path"] for row in document["detailed_results"]]
        assert files == [str(scenario_path(tree, scenario=s)) for s in ("12", "13", "14")]
        assert document["directory"] == str(scenario_path(tree).parent)
        assert document["detailed_results"][2]["error"].startswith("truncated: ")

    def test_a_broken_file_is_counted_apart(self, warehouse: Warehouse) -> None:
        overall = warehouse.results("m", language="EN")["overall_statistics"]

        names = ("total_files", "successful_evaluations", "failed_evaluations")
        assert [overall[name] for name in names] == [3, 2, 1]

    def test_the_other_language_has_its_own(self, warehouse: Warehouse) -> None:
        overall = warehouse.results("m", language="ko")["overall_statistics"]

        assert overall["total_files"] == 1


class TestRounding:
    def test_spec_rounds_to_four_digits_at_the_end(self, warehouse: Warehouse) -> None:
        document = warehouse.results("m", language="EN", profile="spec")
        scores = (
            warehouse.table("model_scores")
            .collect()
            .filter(profile="spec", model="m", language="EN")
        )

        details = document["overall_statistics"]["score_details"]
        recall = details["call_rejection_scores"]["fc_decision_performance"]["recall"]
        assert recall == 0.8
        assert details["function_call_scores"]["function_name_accuracy"] == 0.8333
        assert scores["name_f1"].item() == pytest.approx(5 / 6)
        assert document["detailed_results"][0]["function_name_accuracy"] == 0.6667

    def test_upstream_prints_decisions_as_they_are(self, warehouse: Warehouse) -> None:
        document = warehouse.results("m", language="EN", profile="upstream")
        scores = (
            warehouse.table("model_scores")
            .collect()
            .filter(profile="upstream", model="m", language="EN")
        )

        statistics = document["overall_statistics"]["score_details"]["call_rejection_scores"]
        for side, ours in (("fc", "call"), ("reject", "reject")):
            performance = statistics[f"{side}_decision_performance"]
            assert performance == {
                name: scores[f"{ours}_{name}"].item()
                for name in ("precision", "recall", "f1", "accuracy")
            }

    def test_the_seeds_worked_example(self) -> None:
        f1s = {"reject_f1": 0.0667, "call_f1": 0.8382}
        exact = sum(f1s.values()) / 2

        printed = overall_statistics(ScoreRow(f1s, call_rejection_f1=exact), UPSTREAM)[
            "key_metrics"
        ]

        assert exact == pytest.approx(0.45245)
        assert printed["Call Rejection Classification Accuracy"] == 0.4524


class ScoreRow(dict[str, Any]):
    """A row of `model_scores` in which all else is undefined."""

    def __init__(self, *given: Any, **scores: Any) -> None:
        super().__init__(*given, **scores)

    def __missing__(self, _: str) -> float:
        return 0.0


class TestUndefined:
    @pytest.mark.parametrize(
        ("profile", "printed"), [("spec", None), ("strict", None), ("upstream", 0.0)]
    )
    def test_it_prints_as_the_profile_has_it(
        self, warehouse: Warehouse, profile: str, printed: float | None
    ) -> None:
        document = warehouse.results("unlabelled", profile=profile)

        metrics = document["overall_statistics"]["key_metrics"]
        assert metrics["Plan"] == printed
        assert document["detailed_results"][0]["workflow_evaluation_with_failure"] == printed


class TestTotals:
    @pytest.mark.parametrize("profile", ["spec", "strict"])
    def test_every_total_follows_from_the_rows(self, warehouse: Warehouse, profile: str) -> None:
        document = warehouse.results("m", language="EN", profile=profile)

        statistics = document["overall_statistics"]["score_details"]["call_rejection_scores"]
        for name in ("total_rejection_type_mismatch", "total_failed_generation"):
            rows = [row[name] for row in document["detailed_results"] if "error" not in row]
            assert statistics[name] == sum(rows)

    def test_without_a_profile_the_figures_are_the_evaluators(self, warehouse: Warehouse) -> None:
        assert warehouse.results("m", language="EN")["profile"] == "upstream"


class TestSelection:
    def test_an_unknown_model_says_which_there_are(self, warehouse: Warehouse) -> None:
        with pytest.raises(SelectionError, match=r"(?s)nobody.*\bm\b.*unlabelled"):
            warehouse.results("nobody")

    def test_a_model_in_two_languages_needs_one_named(self, warehouse: Warehouse) -> None:
        with pytest.raises(SelectionError, match=r"(?s)EN.*KO"):
            warehouse.results("m")

    def test_an_unknown_profile_says_how_to_score_it(self, warehouse: Warehouse) -> None:
        with pytest.raises(
            SelectionError, match=r"'mine'.*spec, strict, upstream.*orchbench score"
        ):
            warehouse.results("m", language="EN", profile="mine")

    @pytest.mark.parametrize("profile", [SPEC, UPSTREAM])
    def test_scores_that_are_not_there_are_named(self, warehouse: Warehouse, profile: Any) -> None:
        key = {"model": "m", "experiment": "other", "language": "EN"}

        with (
            warehouse.connect() as connection,
            pytest.raises(SelectionError, match=rf"no scores of m / other / EN .*{profile.name}"),
        ):
            result_document(connection, profile, **key)
