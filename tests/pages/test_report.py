"""Reports: what is in the page is what the tables and views have, and it is inert."""

import html.parser
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines import Here
from orchbench_analytics.errors import SelectionError
from orchbench_analytics.pages import report
from orchbench_analytics.pages.findings import leader
from orchbench_analytics.pages.report import ReportOptions, chosen_source, make_report
from orchbench_analytics.pages.sections import SECTIONS
from orchbench_analytics.pages.shards import difference
from orchbench_analytics.store.manifest import load_manifest
from tests import documents
from tests.conftest import MakeOnce
from tests.pages.unpack import frame_of_columns, unpacked
from tests.sweep import write_sweep

STATIC = Path(report.__file__).parent / "static"
PIECE = re.compile(r'<script type="text/plain" data-piece="([\w-]+)">([^<]*)</script>')
HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">‮<b>한국</b>'


def pieces(page: Path) -> dict[str, Any]:
    found = PIECE.findall(page.read_text(encoding="utf-8"))
    return {name: unpacked(text) for name, text in found}


@pytest.fixture(scope="module")
def page(demo: Path, make_once: MakeOnce) -> Path:
    def build(directory: Path) -> None:
        directory.mkdir()
        open_warehouse(demo).report(directory / "report.html", jobs=1)

    return make_once("page", build) / "report.html"


def boards(page: Path) -> list[pl.DataFrame]:
    """The board of each profile, in the order of the page."""
    found = pieces(page)
    count = len(found["core"]["profiles"])
    return [frame_of_columns(found[f"board-{number}"]["board"]) for number in range(count)]


def test_the_leaderboard_is_the_view_in_every_language(demo: Path, page: Path) -> None:
    found = pl.concat(boards(page))
    keys = ["profile", "language", "model", "experiment"]
    columns = [*keys, "rank_number", "average_score", "coverage", "file_count", "rank_status"]
    expected = open_warehouse(demo).table("language_ranks").collect()

    assert_frame_equal(
        found.select(columns).sort(keys),
        expected.select(columns).sort(keys),
        check_dtypes=False,
        abs_tol=1e-7,
    )


def test_ranks_are_the_statistics(demo: Path, page: Path) -> None:
    board = pl.concat(boards(page))
    columns = ["model", "experiment", "rank_low", "rank_high", "tier_number", "low", "high"]

    found = board.filter(profile="strict", language="mean").select(columns)

    expected = open_warehouse(demo).leaderboard(profile="strict", intervals=True).select(columns)
    keys = ["model", "experiment"]
    assert_frame_equal(found.sort(keys), expected.sort(keys), check_dtypes=False, abs_tol=1e-6)


@pytest.mark.long
def test_a_pair_on_the_page_is_what_compare_says(demo: Path, page: Path) -> None:
    """Every metric and language of some pairs: the same interval, p and verdict."""
    warehouse = open_warehouse(demo)
    pairs = frame_of_columns(pieces(page)["comparisons"]["pairs"])
    sides = [key for key in pairs.columns if key.endswith(("model", "experiment"))]
    keys = ["metric", "language"]

    for profile in ("spec", "strict", "upstream"):
        of_profile = pairs.filter(profile=profile)
        for pair in of_profile.select(sides).unique().sort(sides).iter_rows(named=True):
            found = of_profile.filter(**pair)
            expected = warehouse.compare(
                (pair["baseline_model"], pair["baseline_experiment"]),
                (pair["candidate_model"], pair["candidate_experiment"]),
                profile=profile,
            )
            assert_frame_equal(
                found.sort(keys),
                expected.select(found.columns).sort(keys),
                check_dtypes=False,
                abs_tol=1e-6,
            )


def test_all_pairs_on_the_page_are_what_compare_says(demo: Path, page: Path) -> None:
    every = frame_of_columns(pieces(page)["comparisons"]["all_pairs"])
    sides = [key for key in every.columns if key.endswith(("model", "experiment"))]
    for profile in ("spec", "strict", "upstream"):
        found = every.filter(profile=profile, language="mean")
        expected = open_warehouse(demo).compare(profile=profile)
        assert_frame_equal(
            found.sort(sides),
            expected.select(found.columns).sort(sides),
            check_dtypes=False,
            abs_tol=1e-6,
        )


@pytest.mark.long
def test_the_same_report_has_the_same_bytes(demo: Path, page: Path, tmp_path: Path) -> None:
    again = open_warehouse(demo).report(tmp_path / "again.html", jobs=1).page
    assert again.read_bytes() == page.read_bytes()


def test_pairs_are_compared_in_every_language(page: Path) -> None:
    pairs = frame_of_columns(pieces(page)["comparisons"]["pairs"])

    counts = pairs.group_by("profile", "metric", "language").len()

    assert set(counts["language"]) == {"mean", "EN", "KO"}
    assert counts["len"].n_unique() == 1


def test_figures_over_all_languages_are_from_summed_counts(demo: Path, page: Path) -> None:
    found = frame_of_columns(pieces(page)["tools"]["tools"]).filter(language="", model="")
    scores = open_warehouse(demo).table("tool_scores").collect()

    expected = (
        scores.group_by("profile", "tool")
        .agg(pl.col("tool_true_positive_count", "labelled_step_count").sum())
        .filter(pl.col("labelled_step_count") > 0)
        .select(
            "profile",
            "tool",
            "labelled_step_count",
            tool_recall=pl.col("tool_true_positive_count") / pl.col("labelled_step_count"),
        )
    )
    keys = ["profile", "tool"]
    assert_frame_equal(
        found.select(expected.columns).sort(keys),
        expected.sort(keys),
        check_dtypes=False,
        abs_tol=1e-6,
    )


def test_outcomes_and_patterns_are_the_views(demo: Path, page: Path) -> None:
    found = pieces(page)
    model, experiment = frame_of_columns(found["core"]["models"]).row(0)
    steps = frame_of_columns(found["model-0"]["steps"])

    counted = steps.drop_nulls("error_pattern").group_by("error_pattern").len().rows()

    patterns = open_warehouse(demo).table("error_patterns").collect()
    own = patterns.filter(profile="spec", model=model, experiment=experiment)
    expected = own.group_by("error_pattern").agg(pl.col("occurrence_count").sum())
    assert sorted(counted) == sorted(expected.filter(pl.col("occurrence_count") > 0).rows())


def test_the_question_of_a_step_is_what_show_prints(tmp_path: Path) -> None:
    write_sweep(tmp_path, models=2, scenarios=1, runs=1)
    warehouse = open_warehouse(tmp_path / "w", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)

    found = pieces(warehouse.report(tmp_path / "r.html", profiles=["spec"], jobs=1).page)

    shards = [found[f"model-{number}"] for number in range(found["core"]["models"]["count"])]
    key = ["language", "scenario", "run", "step_id"]
    for (model, experiment), shard in zip(
        frame_of_columns(found["core"]["models"]).rows(), shards, strict=True
    ):
        for unit in ("steps", "plans"):
            own = warehouse.table(unit).filter(model=model, experiment=experiment).collect()
            asked = dict(
                own.select(pl.struct(key).alias("key"), "question")
                .unique()
                .select(pl.col("key").struct.json_encode(), "question")
                .iter_rows()
            )
            shown = frame_of_columns(shard[unit])
            keys = shown.select(pl.struct(key).struct.json_encode()).to_series()
            for place, number in zip(keys, shown["question"], strict=True):
                assert asked[place] == (None if number is None else found["labels"][number])
    assert any(number is not None for number in shards[0]["steps"]["columns"]["question"]["values"])


def test_the_first_screen_says_who_leads(demo: Path, page: Path) -> None:
    best = open_warehouse(demo).leaderboard(profile="spec").row(0, named=True)

    said = pieces(page)["board-0"]["findings"]

    assert said[0]["text"].startswith(f"{best['model']} leads with")
    assert said[0]["path"][:3] == ["compare", best["model"], best["experiment"]]
    assert len(said) == 3


@pytest.mark.parametrize(
    ("written", "latest"),
    [("2025-07-16T10:30:00", "2025-07-16 10:30"), (812.4375, None), ("812.4375", None)],
)
def test_the_first_screen_says_when_answers_came_if_files_have_dates(
    tmp_path: Path, written: object, latest: str | None
) -> None:
    documents.write(
        documents.scenario_path(tmp_path / "results"),
        documents.runs_document(generated_at=written),
    )
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(tmp_path / "results")
    source = chosen_source(warehouse.path, warehouse.manifest(), ReportOptions(), tmp_path)

    assert SECTIONS["core"](source)["size"]["latest"] == latest


def test_experiments_of_one_model_are_told_apart_on_the_first_screen() -> None:
    board = pl.DataFrame(
        {
            "model": ["one", "two", "two"],
            "experiment": ["base", "base", "long"],
            "average_score": [0.9, 0.8, 0.7],
            "rank_number": [1, 2, 3],
            "tier_number": [1, 1, 1],
        }
    )

    said = leader(board)

    assert said is not None
    assert said["text"].endswith("cannot be told apart from two/base, two/long.")


def test_scripts_know_no_label_and_no_formula() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in STATIC.glob("*.js"))

    for label in ("Call/Reject", "Plan structure", "Reject precision", "Average"):
        assert f'"{label}"' not in scripts
    for name in ("studentQuantile", "estimateTable", "rankRows", "METRIC_WORDS", "divided("):
        assert name not in scripts


def test_every_step_of_a_model_is_in_its_shard(demo: Path, page: Path) -> None:
    found = pieces(page)
    models = frame_of_columns(found["core"]["models"])

    counts = [found[f"model-{number}"]["steps"]["count"] for number in range(len(models))]

    steps = open_warehouse(demo).table("steps").group_by("model", "experiment").len().collect()
    expected = models.join(steps, on=["model", "experiment"], maintain_order="left")["len"]
    assert counts == expected.to_list()


def test_another_profile_is_told_by_what_it_changes(demo: Path, page: Path) -> None:
    found = pieces(page)
    models = frame_of_columns(found["core"]["models"]).rows()
    number = models.index(("silent", "baseline"))
    shard = found[f"model-{number}"]
    steps = frame_of_columns(shard["steps"]).with_row_index("row")
    changes = frame_of_columns(shard["step_changes"]).filter(pl.col("profile") == "upstream")

    told = steps.join(
        changes.select("row", pl.col("predicted").alias("changed")), on="row", how="left"
    )
    predicted = told.select(pl.coalesce("changed", "predicted"))["changed"].value_counts().rows()

    expected = (
        open_warehouse(demo)
        .table("scored_steps")
        .filter(pl.col("profile") == "upstream", pl.col("model") == "silent")
        .collect()["predicted"]
        .value_counts()
        .rows()
    )
    assert sorted(predicted) == sorted(expected)


def test_models_read_together_are_as_if_read_alone(demo: Path, page: Path, tmp_path: Path) -> None:
    together = pieces(page)
    model, experiment = frame_of_columns(together["core"]["models"]).row(2)

    alone = open_warehouse(demo).report(
        tmp_path / "r.html", models=[f"{model}/{experiment}"], jobs=1
    )

    assert together["model-2"]["steps"]["count"] > 0
    assert pieces(alone.page)["model-0"] == together["model-2"]


def test_consistency_counts_a_model_once_however_models_are_batched(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of scores holds several models, of which a batch may have only some."""
    warehouse = open_warehouse(demo)
    source = chosen_source(warehouse.path, warehouse.manifest(), ReportOptions(), tmp_path)
    monkeypatch.setattr("orchbench_analytics.pages.sections._STEPS_AT_ONCE", 1)

    found = SECTIONS["consistency"](source)

    assert len(list(source.batches(1))) == len(source.models) > 1
    key = ["model", "experiment", "language"]
    for what in ("flips", "pass_rates"):
        shown = frame_of_columns(found[what]).filter(profile="spec")
        wanted = warehouse.consistency(what, profile="spec")
        assert_frame_equal(
            shown.sort(key),
            wanted.select(shown.columns).sort(key),
            check_dtypes=False,
            abs_tol=1e-7,
        )


def test_labels_are_kept_once(page: Path) -> None:
    found = pieces(page)
    shard = found["model-0"]
    numbers = [n for n in shard["plans"]["columns"]["label_content"]["values"] if n is not None]

    assert len(found["labels"]) == len(set(found["labels"]))
    assert all(found["labels"][number].startswith("workflow_") for number in numbers)


def test_calls_are_told_by_what_differs_from_the_label(demo: Path, page: Path) -> None:
    found = pieces(page)
    model, experiment = frame_of_columns(found["core"]["models"]).row(1)
    rows = frame_of_columns(found["model-1"]["steps"]).iter_rows(named=True)

    told = [as_the_page_reads(row, found["labels"]) for row in rows]

    expected = open_warehouse(demo).table("steps").filter(model=model, experiment=experiment)
    calls = expected.collect()["answer_calls"].to_list()
    assert sorted(filter(None, told)) == sorted(filter(None, calls))


def as_the_page_reads(row: dict[str, Any], labels: list[str]) -> str | None:
    if row["answer_calls_start"] is None:
        return row["answer_calls"]
    label = labels[row["label_calls"]].encode("utf-16-le")
    start = label[: 2 * row["answer_calls_start"]].decode("utf-16-le")
    end = label[len(label) - 2 * row["answer_calls_end"] :].decode("utf-16-le")
    return start + row["answer_calls"] + end


@given(answer=st.text("ab\U0001f600가", max_size=9), label=st.text("ab\U0001f600가", max_size=9))
def test_a_difference_gives_the_answer_back(answer: str, label: str) -> None:
    start, end, middle = difference(answer, label)

    row = {"answer_calls_start": start, "answer_calls_end": end, "answer_calls": middle}
    assert as_the_page_reads({**row, "label_calls": 0}, [label]) == answer


def hostile_warehouse(directory: Path) -> Path:
    answers = [
        {"step_id": "3", "agent_id": HOSTILE, "content": HOSTILE, "tool_calls": []},
        {"step_id": "4", "agent_id": "bank_agent", "content": "x" * 30_000},
    ]
    plans = [{"step_id": 2, "role": "assistant", "content": HOSTILE}]
    run = documents.run(sub_agent_history=answers, main_agent_history=plans)
    document = documents.runs_document({HOSTILE: run, "run #1": documents.run()})
    model = "<script>alert(3)<\u2215script>"
    documents.write(documents.scenario_path(directory / "results", model=model), document)
    open_warehouse(directory / "w", create=True).ingest(directory / "results", jobs=1)
    return directory / "w"


class Tags(html.parser.HTMLParser):
    """Every tag of a page, with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_hostile_texts_add_nothing_to_the_page(page: Path, tmp_path: Path) -> None:
    made = open_warehouse(hostile_warehouse(tmp_path)).report(
        tmp_path / "r.html", title=HOSTILE, profiles=["spec"], jobs=1
    )
    tags, usual = Tags(), Tags()
    tags.feed(made.page.read_text(encoding="utf-8"))
    usual.feed(page.read_text(encoding="utf-8"))

    def others(found: Tags) -> list[str]:
        return [tag for tag, attributes in found.found if "data-piece" not in attributes]

    assert others(tags) == others(usual)
    assert not any(name.startswith("on") for _, attributes in tags.found for name in attributes)


def test_the_policy_names_no_host_and_allows_no_evaluation(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)

    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert not re.search(r"unsafe|https?:|\*|blob:|'self'", policy[1])
    assert "innerHTML" not in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


def test_answers_can_be_cut_or_left_out(tmp_path: Path) -> None:
    warehouse = open_warehouse(hostile_warehouse(tmp_path))

    for limit in (100, 0):
        warehouse.report(tmp_path / "r.html", answer_limit=limit, profiles=["spec"], jobs=1)
        steps = frame_of_columns(pieces(tmp_path / "r.html")["model-0"]["steps"])
        assert steps["answer_content"].str.len_chars().max() == limit
        assert steps["answer_content_length"].max() == 30_000


def test_steps_can_be_left_out_and_the_page_says_how_many(demo: Path, tmp_path: Path) -> None:
    warehouse = open_warehouse(demo)
    chosen = {"models": ["graded-1", "silent"], "profiles": ["spec"], "jobs": 1}
    whole = warehouse.report(tmp_path / "whole.html", **chosen)
    made = warehouse.report(tmp_path / "short.html", with_steps=False, **chosen)

    there, left = pieces(whole.page), pieces(made.page)
    assert whole.left_out_step_count == there["core"]["left_out_step_count"] == 0
    steps = sum(value["steps"]["count"] for name, value in there.items() if "model-" in name)
    assert made.left_out_step_count == left["core"]["left_out_step_count"] == steps
    assert {*there} - {*left} == {"labels"}
    for name in (name for name in left if "model-" in name):
        assert left[name] == {"files": there[name]["files"]}


def test_a_report_of_some_models_has_no_others(demo: Path, tmp_path: Path) -> None:
    made = open_warehouse(demo).report(
        tmp_path / "r.html", models=["graded-1", "silent/baseline"], profiles=["strict"], jobs=1
    )

    core = pieces(made.page)["core"]
    assert core["models"]["columns"]["model"]["words"] == ["graded-1", "silent"]
    assert core["profiles"] == ["strict"]
    (board,) = boards(made.page)
    assert set(board["profile"]) == {"strict"}
    assert set(board["model"]) == {"graded-1", "silent"}


def test_what_is_pooled_is_of_the_models_of_the_report(demo: Path, tmp_path: Path) -> None:
    chosen = {"models": ["graded-1"], "profiles": ["spec"]}
    page = open_warehouse(demo).report(tmp_path / "r.html", **chosen, jobs=1).page

    found = pieces(page)

    for name, table, count in (
        ("decisions", "confusion", "step_count"),
        ("tools", "tools", "labelled_step_count"),
        ("arguments", "arguments", "argument_count"),
    ):
        rows = frame_of_columns(found[name][table]).filter(language="", profile="spec")
        pooled, own = (rows.filter(model=model)[count].sum() for model in ("", "graded-1"))
        assert pooled == own > 0


def test_an_unknown_model_is_named(demo: Path, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="no model 'nobody'"):
        open_warehouse(demo).report(tmp_path / "r.html", models=["nobody"])


def test_a_large_report_is_a_directory_of_scripts(demo: Path, tmp_path: Path) -> None:
    options = ReportOptions(models=["graded-1"], profiles=["spec"], largest_page=1000)

    made = make_report(demo, load_manifest(demo), tmp_path / "out", options, Here())

    assert made.page == tmp_path / "out" / "index.html"
    assert set(pieces(made.page)) == {"core"}
    shard = (tmp_path / "out" / "pieces" / "model-0.js").read_text(encoding="ascii")
    text = re.match(r'takePiece\("model-0","([\w+/=]*)"\);\n// orchbench-analytics sha256 ', shard)
    assert text is not None
    assert unpacked(text[1])["files"]["count"] > 0
    assert not list(tmp_path.glob(".report-*"))


def test_a_report_goes_to_a_directory_of_any_name(demo: Path, tmp_path: Path) -> None:
    output = tmp_path / "a*[1]? 'b'" / "r.html"
    output.parent.mkdir()

    made = open_warehouse(demo).report(output, models=["graded-1"], profiles=["spec"], jobs=1)

    assert pieces(made.page)["model-0"]["steps"]["count"] > 0
