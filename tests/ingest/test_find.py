"""Discovery: every tree shape is placed, and what cannot be placed is reported."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest import sources
from orchbench_analytics.ingest.sources import (
    InputFile,
    Placement,
    compile_pattern,
    place_by_content,
    rows_of,
)
from tests.documents import results_document, run, runs_document, scenario_path, write

NOTHING_SAID = Placement()
RUNS = "results/org-m/seed1/step_wise_evaluation_KO/org-m/12_out.json"


def discover(paths: list[Path | str], **options: Any) -> list[InputFile]:
    """The files that are found, in order."""
    return rows_of(InputFile, sources.discover(paths, **options).sort("path"))


def find(root: Path, *paths: str, placement: Placement = NOTHING_SAID) -> dict[str, InputFile]:
    """What is found below the paths, by name."""
    found = discover([root / path for path in paths or ("",)], placement=placement)
    return {Path(file.path).name: file for file in found}


def place_one(root: Path, path: str, given: str = "", **options: str | None) -> InputFile:
    """How one file is placed when the directory `given` is."""
    pattern = options.pop("pattern", None)
    expression = compile_pattern(pattern) if pattern else None
    write(root / path)
    (found,) = discover([root / given], placement=Placement(**options, pattern=expression))
    return found


@pytest.mark.parametrize(
    ("path", "given", "key"),
    [
        (RUNS, "", ("runs", "org-m", "seed1", "KO", "12", None)),
        (RUNS, "results/org-m/seed1", ("runs", "org-m", "seed1", "KO", "12", None)),
        (RUNS, RUNS, ("runs", "org-m", "seed1", "KO", "12", None)),
        (
            "m/seed1/orchestration_bench/step_wise_evaluation_EN/m/12_out.json",
            "",
            ("runs", "m", "seed1", "EN", "12", None),
        ),
        (
            "org/m/seed1/step_wise_evaluation_EN/org/m/12_out.json",
            "",
            ("runs", "org/m", "seed1", "EN", "12", None),
        ),
        (
            "gpt/sweep7/step_wise_evaluation_EN/m/12_out.json",
            "",
            ("runs", "gpt", "sweep7", "EN", "12", None),
        ),
        (
            "gpt/sweep7/step_wise_evaluation_EN/m/12_out.json",
            "gpt",
            ("runs", "gpt", "sweep7", "EN", "12", None),
        ),
        (
            "gpt/sweep7/step_wise_evaluation_EN/m/12_out.json",
            "gpt/sweep7",
            ("runs", "m", "default", "EN", "12", None),
        ),
        (
            "a/gpt/sweep7/orchestration_bench/step_wise_evaluation_EN/m/12_out.json",
            "a/gpt/sweep7/orchestration_bench/step_wise_evaluation_EN/m",
            ("runs", "gpt", "sweep7", "EN", "12", None),
        ),
        (
            "a/org/gpt/s/orchestration_bench/step_wise_evaluation_EN/org_gpt/12_out.json",
            "a/org/gpt/s",
            ("runs", "org/gpt", "s", "EN", "12", None),
        ),
        (
            "a/gpt/s/step_wise_evaluation_EN/org_gpt/12_out.json",
            "a/gpt/s",
            ("runs", "gpt", "s", "EN", "12", None),
        ),
        (
            "data/results/step_wise_evaluation_KO/m/12_out.json",
            "data/results",
            ("runs", "m", "default", "KO", "12", None),
        ),
        (
            "out/step_wise_evaluation/m/12_out.json",
            "out",
            ("runs", "m", "default", "EN", "12", None),
        ),
        (
            "out/step_wise_evaluation_KO/m/m-result.json",
            "out",
            ("results", "m", "default", "KO", None, None),
        ),
        (
            "out/step_wise_evaluation/sim-weak_4.1/sim-weak_4.1-result.json",
            "out",
            ("results", "sim-weak_4.1", "default", "EN", None, None),
        ),
        (
            "m/step_wise_evaluation_EN/m/12_out.json",
            "",
            ("runs", "m", "default", "EN", "12", None),
        ),
        ("m/12_out.json", "", ("runs", "m", "default", "unknown", "12", None)),
        ("m/12_out.json", "m/12_out.json", ("runs", "m", "default", "unknown", "12", None)),
        ("m/ko/a_b_out.json", "", ("runs", "m", "default", "KO", "a_b", None)),
        ("m/12_out.json.gz", "", ("runs", "m", "default", "unknown", "12", None)),
        ("m/EN/12_out.json.zst", "m", ("runs", "m", "default", "EN", "12", None)),
        ("gpt/JA/12_out.json", "", ("runs", "gpt", "default", "JA", "12", None)),
        ("gpt/ja/12_out.json", "", ("runs", "ja", "default", "unknown", "12", None)),
        ("gpt-4-result.json", "", ("unknown", "gpt-4", None, None, None, None)),
        ("gpt_4_results.json.gz", "", ("unknown", "gpt_4", None, None, None, None)),
        ("agent_cards/KO/bank.json", "", ("agent_card", None, None, "KO", None, None)),
        ("agent_cards/bank.json", "", ("agent_card", None, None, "unknown", None, None)),
        ("EN/agent_cards/bank.json", "", ("agent_card", None, None, "EN", None, None)),
        ("KO/multiagent_cards/bank.json", "", ("agent_card", None, None, "KO", None, None)),
        ("evaluation_results.json", "", ("unknown", None, None, None, None, None)),
        ("anything.json", "", ("unknown", None, None, None, None, None)),
        (
            "step_wise_evaluation_EN/12_out.json",
            "",
            ("runs", None, None, "EN", "12", None),
        ),
    ],
)
def test_a_path_says_where_a_file_belongs(
    tmp_path: Path, path: str, given: str, key: tuple[str | None, ...]
) -> None:
    found = place_one(tmp_path, path, given)

    experiment = key[2]
    if path.startswith("step_wise"):  # what is above is not known, and the test's own
        experiment = found.experiment
    assert found.key == (*key[:2], experiment, *key[3:])


def test_results_and_judge_logs_belong_to_the_model_beside_them(tmp_path: Path) -> None:
    inner = tmp_path / "results/m/seed1/orchestration_bench"
    write(inner / "step_wise_evaluation_EN/org/m/12_out.json")
    write(inner / "evaluation_result_EN.json")
    write(inner / "llm_evaluation_logs_EN/12_out_trial_run #3.json")
    write(inner / "llm_evaluation_logs_EN/12_out_comprehensive_evaluation.json")

    found = find(tmp_path)

    assert found["12_out.json"].key == ("runs", "m", "seed1", "EN", "12", None)
    assert found["evaluation_result_EN.json"].key == (
        "results", "m", "seed1", "EN", None, None,
    )  # fmt: skip
    assert found["12_out_trial_run #3.json"].key == (
        "judge_log", "m", "seed1", "EN", "12", "run #3",
    )  # fmt: skip
    placed = [file for file in found.values() if file.model == "m"]
    assert [file.client_model for file in placed] == ["org/m"] * 3
    summary = found["12_out_comprehensive_evaluation.json"]
    assert (summary.kind, summary.reason) == ("evaluator_summary", "not_needed")


@pytest.mark.parametrize("given", ["", "gpt", "gpt/sweep7"])
def test_an_alias_is_the_same_wherever_one_points(tmp_path: Path, given: str) -> None:
    write(tmp_path / "gpt/sweep7/step_wise_evaluation_EN/m/12_out.json")
    write(tmp_path / "gpt/sweep7/evaluation_result_EN.json")
    write(tmp_path / "gpt/sweep7/llm_evaluation_logs_EN/12_out_trial_run #1.json")

    found = find(tmp_path, given)

    assert {(file.model, file.experiment, file.client_model) for file in found.values()} == {
        ("gpt", "sweep7", "m")
    }


def test_a_relative_path_says_as_much_as_an_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "gpt/sweep7/step_wise_evaluation_EN/m/12_out.json")
    write(tmp_path / "gpt/sweep7/scenario_processing_EN.log", b"")
    monkeypatch.chdir(tmp_path / "gpt/sweep7")

    found = {file.kind: file.key for file in discover(["."])}

    assert found == {
        "runs": ("runs", "gpt", "sweep7", "EN", "12", None),
        "run_log": ("run_log", "gpt", "sweep7", "EN", None, None),
    }


@pytest.mark.parametrize("logs", ["evaluation_logs", "llm_evaluation_logs"])
@pytest.mark.parametrize(
    ("content", "language"), [("tool: getForecast", "EN"), ("날씨를 알려", "KO")]
)
def test_names_without_a_language_are_placed(
    tmp_path: Path, logs: str, content: str, language: str
) -> None:
    label = {"3": {"agent_id": "weather_agent", "content": content * 20}}
    runs = runs_document({"run #1": run(label=label)})
    write(tmp_path / "step_wise_evaluation/org_m/12_out.json.gz", runs)
    write(tmp_path / f"{logs}/12_out_trial_run #1.json")
    write(tmp_path / f"{logs}/12_out_comprehensive_evaluation.json")

    found = find(tmp_path)

    assert found["12_out.json.gz"].key == ("runs", "org_m", "default", language, "12", None)
    assert found["12_out_trial_run #1.json"].key == (
        "judge_log", "org_m", "default", language, "12", "run #1",
    )  # fmt: skip
    assert found["12_out_comprehensive_evaluation.json"].kind == "evaluator_summary"


def test_logs_without_a_language_beside_two_languages_are_not_guessed(tmp_path: Path) -> None:
    write(tmp_path / "step_wise_evaluation_EN/m/12_out.json")
    write(tmp_path / "step_wise_evaluation_KO/m/12_out.json")
    write(tmp_path / "evaluation_logs/12_out_trial_run #1.json")

    assert find(tmp_path)["12_out_trial_run #1.json"].model is None


def test_what_only_repeats_results_is_known_by_name(tmp_path: Path) -> None:
    write(tmp_path / "m/exp/.temp_eval_results/result_0001.json")
    write(tmp_path / "m/exp/lm_eval_style_result.json")

    found = find(tmp_path)

    assert {(file.kind, file.reason) for file in found.values()} == {
        ("unfinished_results", "not_needed"),
        ("evaluator_summary", "not_needed"),
    }


def test_of_several_models_beside_each_other_none_is_guessed(tmp_path: Path) -> None:
    for model in ("a", "b"):
        write(tmp_path / f"sweep7/step_wise_evaluation_EN/{model}/12_out.json")
    write(tmp_path / "sweep7/evaluation_result_EN.json")
    write(tmp_path / "sweep7/llm_evaluation_logs_EN/12_out_trial_run #1.json")

    found = find(tmp_path)

    result, log = found["evaluation_result_EN.json"], found["12_out_trial_run #1.json"]
    assert (result.model, log.model) == (None, None)
    directory = results_document("x/sweep7/step_wise_evaluation_EN/b")["directory"]
    assert place_by_content(result, "results", directory).model == "b"
    assert place_by_content(log, "judge_log", None).reason == "unplaced"


def test_of_several_models_the_one_whose_directory_it_is_in_is_meant(tmp_path: Path) -> None:
    for model in ("a", "b"):
        write(tmp_path / f"b/seed1/step_wise_evaluation_EN/{model}/12_out.json")
    write(tmp_path / "b/seed1/llm_evaluation_logs_EN/12_out_trial_run #1.json")

    found = find(tmp_path)

    assert found["12_out_trial_run #1.json"].model == "b"


def test_judge_logs_stay_where_they_belong_when_the_runs_are_gone(tmp_path: Path) -> None:
    runs = write(scenario_path(tmp_path, "m"))
    write(tmp_path / "m/exp/llm_evaluation_logs_EN/12_out_trial_run #1.json")
    before = find(tmp_path)["12_out_trial_run #1.json"].key
    runs.unlink()

    assert find(tmp_path)["12_out_trial_run #1.json"].key == before


@pytest.mark.parametrize(
    ("directory", "key"),
    [
        ("results/m/seed1/step_wise_evaluation_KO/m", ("m", "seed1", "KO")),
        ("x/step_wise_evaluation_KO/org/m", ("org/m", "default", "KO")),
        ("data/results/step_wise_evaluation/m_4.1", ("m_4.1", "default", "EN")),
        ("/b/gpt/e/orchestration_bench/step_wise_evaluation_EN/org_x", ("gpt", "e", "EN")),
        ("C:\\out\\m\\seed1\\step_wise_evaluation_KO\\m", ("m", "seed1", "KO")),
        ("out/m", ("m", "default", "unknown")),
        ("out/m/EN", ("m", "default", "EN")),
        ("/", (None, None, None)),
        (None, (None, None, None)),
    ],
)
def test_a_result_file_is_placed_by_the_directory_it_names(
    directory: str | None, key: tuple[str | None, ...]
) -> None:
    file = InputFile("/somewhere/summary.json")

    placed = place_by_content(file, "results", directory)

    assert (placed.model, placed.experiment, placed.language) == key
    assert placed.reason == ("unplaced" if key[0] is None else None)


@pytest.mark.parametrize(
    ("path", "directory", "key"),
    [
        (
            "gpt/seed1/evaluation_result_KO.json",
            "/b/results/gpt/seed1/step_wise_evaluation_KO/client",
            ("gpt", "seed1", "KO", "client"),
        ),
        (
            "renamed/seed1/orchestration_bench/evaluation_result_KO.json",
            "/b/gpt/seed1/orchestration_bench/step_wise_evaluation_KO/client",
            ("renamed", "seed1", "KO", "client"),
        ),
        (
            "org/gpt/seed1/evaluation_result_EN.json",
            "/b/org/gpt/seed1/step_wise_evaluation_EN/org_gpt",
            ("org/gpt", "seed1", "EN", "org_gpt"),
        ),
        (
            "collected/evaluation_result_KO.json",
            "/b/gpt/seed1/step_wise_evaluation_KO/client",
            ("gpt", "seed1", "KO", "client"),
        ),
        ("gpt/seed1/evaluation_result_KO.json", None, ("gpt", "seed1", "KO", None)),
        (
            "by_hand/KO/anything.json",
            "data/results/step_wise_evaluation/sim-weak_4.1",
            ("sim-weak_4.1", "default", "KO", "sim-weak_4.1"),
        ),
        (
            "by_hand/m_ko.json",
            "data/results/step_wise_evaluation/m",
            ("m", "default", "KO", "m"),
        ),
        (
            "by_hand/EN/m.json",
            "data/results/step_wise_evaluation_KO/m",
            ("m", "default", "KO", "m"),
        ),
        ("by_hand/JA/m.json", "out/m", ("m", "default", "JA", None)),
        (
            "gpt-4-result.json",
            "data/results/step_wise_evaluation/openai_gpt-4",
            ("gpt-4", "default", "EN", "openai_gpt-4"),
        ),
    ],
)
def test_a_result_file_belongs_where_its_tree_or_its_directory_says(
    tmp_path: Path, path: str, directory: str | None, key: tuple[str | None, ...]
) -> None:
    found = place_one(tmp_path, path)

    placed = place_by_content(found, "results", directory)

    assert (placed.model, placed.experiment, placed.language, placed.client_model) == key


def test_a_result_file_written_by_hand_joins_the_runs_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "sweep7/step_wise_evaluation/m/12_out.json")
    write(tmp_path / "sweep7/evaluation_output.json")
    found = find(tmp_path)

    directory = "data/results/step_wise_evaluation/m"
    placed = place_by_content(found["evaluation_output.json"], "results", directory)

    assert found["12_out.json"].key == ("runs", "m", "sweep7", "EN", "12", None)
    assert placed.key == ("results", "m", "sweep7", "EN", None, None)


def test_options_go_before_paths_but_for_agent_cards(tmp_path: Path) -> None:
    write(scenario_path(tmp_path, "m"))
    write(tmp_path / "agent_cards/KO/bank.json")
    said = Placement(model="other", experiment="e", language="en")

    found = find(tmp_path, placement=said)

    assert found["12_out.json"].key == ("runs", "other", "e", "EN", "12", None)
    assert found["bank.json"].key == ("agent_card", None, None, "KO", None, None)


def test_a_pattern_names_the_parts_of_a_path(tmp_path: Path) -> None:
    by_name = place_one(
        tmp_path / "a", "gpt/en/12.json", pattern="{model}/{language}/{scenario}.json"
    )
    by_run = place_one(
        tmp_path / "b", "gpt/12@run #2.json", pattern="{model}/{scenario}@{run}.json"
    )
    without_model = place_one(
        tmp_path / "c", "12_KO.json", pattern="{scenario}_{language}.json", model="gpt"
    )
    unmatched = place_one(tmp_path / "d", "m/12_out.json", pattern="{model}/none/{scenario}.json")

    assert by_name.key == ("runs", "gpt", "default", "EN", "12", None)
    assert by_run.key == ("judge_log", "gpt", "default", "unknown", "12", "run #2")
    assert without_model.key == ("runs", "gpt", "default", "KO", "12", None)
    assert unmatched.key == ("runs", "m", "default", "unknown", "12", None)


def test_a_pattern_leaves_result_files_to_their_content(tmp_path: Path) -> None:
    found = place_one(tmp_path, "gpt/evaluation_result_EN.json", pattern="{model}/{scenario}.json")

    assert (found.kind, found.is_placed) == ("unknown", False)
    assert place_by_content(found, "results", None).key == (
        "results", "gpt", "default", "EN", None, None,
    )  # fmt: skip


@pytest.mark.parametrize("pattern", ["{modell}/{scenario}.json", "plain", "{model}/{model}.json"])
def test_a_wrong_pattern_says_what_is_expected(pattern: str) -> None:
    with pytest.raises(PathError, match="expected each of some of"):
        compile_pattern(pattern)


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    write(tmp_path / "far/m/12_out.json")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "m").symlink_to(tmp_path / "far/m")
    (tree / "up").symlink_to(tree)
    (tree / "self").symlink_to(tree / "self")
    (tree / "self_out.json").symlink_to(tree / "self_out.json")
    (tree / "dangling_out.json").symlink_to(tree / "nothing")

    found = find(tree)

    assert found.keys() == {"12_out.json", "self_out.json", "dangling_out.json"}
    assert found["12_out.json"].path == str(tree / "m/12_out.json")
    assert {found[n].reason for n in ("self_out.json", "dangling_out.json")} == {"unreadable"}


def test_files_given_twice_are_found_once(tmp_path: Path) -> None:
    path = write(tmp_path / "m/12_out.json")

    found = discover([tmp_path, tmp_path / "m", path, str(tmp_path / "m/../m"), path])

    assert len(found) == 1


def test_each_name_of_a_linked_directory_is_a_model(tmp_path: Path) -> None:
    write(tmp_path / "far/12_out.json")
    write(tmp_path / "tree/own/12_out.json")
    for name in ("a", "b", "c"):
        (tmp_path / "tree" / name).symlink_to(tmp_path / "far")
    (tmp_path / "tree/alias").symlink_to(tmp_path / "tree/own")

    found = discover([tmp_path / "tree"])

    assert [file.model for file in found] == ["a", "alias", "b", "c", "own"]


def test_a_link_that_says_nothing_new_of_a_file_is_not_a_second_file(tmp_path: Path) -> None:
    write(tmp_path / "tree/one/m/12_out.json")
    (tmp_path / "tree/all").symlink_to(tmp_path / "tree/one")

    (found,) = discover([tmp_path / "tree"])

    assert found.path == str(tmp_path / "tree/one/m/12_out.json")


def test_links_that_lead_to_each_other_end(tmp_path: Path) -> None:
    names = [f"d{number}" for number in range(12)]
    for name in names:
        write(tmp_path / name / "12_out.json")
    for name in names:
        for other in names:
            if other != name:
                (tmp_path / name / f"to_{other}").symlink_to(tmp_path / other)

    found = discover([tmp_path])

    assert [file.model for file in found if not file.is_linked] == sorted(names)
    assert {file.model for file in found if file.is_linked} == {f"to_{name}" for name in names}
    assert len(found) == 24


def test_a_directory_named_like_a_file_is_reported_and_entered(tmp_path: Path) -> None:
    write(tmp_path / "m/x_out.json/12_out.json")

    found = find(tmp_path)

    assert found["x_out.json"].reason == "is_directory"
    assert found["12_out.json"].model == "x_out.json"


def test_pipes_and_sockets_are_reported_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe_out.json")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket_out.json"))

    found = find(tmp_path)

    assert {name: file.reason for name, file in found.items()} == {
        "pipe_out.json": "no_file",
        "socket_out.json": "no_file",
    }


def test_paths_that_are_not_utf8_are_reported_each(tmp_path: Path) -> None:
    for byte in (b"\xfe", b"\xff"):
        with open(os.fsencode(tmp_path) + b"/" + byte + b"_out.json", "wb") as file:  # noqa: PTH123
            file.write(b"{}")

    found = find(tmp_path)

    assert found.keys() == {r"\xfe_out.json", r"\xff_out.json"}
    assert {file.reason for file in found.values()} == {"bad_path"}


def test_odd_names_are_kept(tmp_path: Path) -> None:
    write(tmp_path / "모델/가_out.json")
    write(tmp_path / "m\nx/new\nline_out.json")

    found = find(tmp_path)

    assert found["가_out.json"].key == ("runs", "모델", "default", "unknown", "가", None)
    assert found["new\nline_out.json"].key == (
        "runs", "m\nx", "default", "unknown", "new\nline", None,
    )  # fmt: skip


def test_other_files_and_the_warehouse_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "m/12_out.json")
    write(tmp_path / "m/notes.txt", b"")
    write(tmp_path / "warehouse/manifest.json", b"{}")

    found = discover([tmp_path], without=tmp_path / "warehouse")

    assert [Path(file.path).name for file in found] == ["12_out.json"]


def test_a_path_that_is_not_there_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="no such file or directory"):
        discover([tmp_path / "nowhere"])


def test_a_file_that_changes_what_it_is_about_gets_another_stamp(tmp_path: Path) -> None:
    path = write(tmp_path / "summary.json", results_document())

    (plain,) = discover([path])
    (named,) = discover([path], placement=Placement(model="other"))

    assert plain.file_stamp != named.file_stamp


def test_the_log_of_a_run_belongs_to_the_runs_beside_it(tmp_path: Path) -> None:
    write(tmp_path / RUNS)
    beside = tmp_path / "results/org-m/seed1"
    write(beside / "scenario_processing_KO.log", b"printed")
    write(beside / "evaluation_KO.log", b"printed")

    found = find(tmp_path)

    assert set(found) == {"12_out.json", "scenario_processing_KO.log"}
    log = found["scenario_processing_KO.log"]
    assert log.key == ("run_log", "org-m", "seed1", "KO", None, None)


@pytest.mark.parametrize("model", [None, "said"])
@pytest.mark.parametrize(
    "directory", ["m", "llm_evaluation_logs_EN", ".temp_eval_results", "agent_cards/EN"]
)
def test_a_file_is_placed_as_if_it_lay_alone(
    tmp_path: Path, directory: str, model: str | None
) -> None:
    names = ["12_out.json", "3_out_trial_run #1_out.json", "_out.json", "a_out_out.json", "b.json"]
    for name in names:
        write(tmp_path / "together" / "a/seed1" / directory / name)
        write(tmp_path / name[:-5] / "a/seed1" / directory / name)

    together = find(tmp_path, "together", placement=Placement(model=model))

    for name in names:
        alone = find(tmp_path, name[:-5], placement=Placement(model=model))[name]
        assert (together[name].key, together[name].reason) == (alone.key, alone.reason)
