"""The explorer over HTTP: who may ask, what is answered, and that nothing is written."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from signal import SIGINT
from typing import Any
from urllib.request import urlopen

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from starlette.testclient import TestClient

from orchbench_analytics import open_warehouse
from orchbench_analytics.pages import explorer as explorer_module
from orchbench_analytics.pages.explorer import Explorer, explorer_app
from orchbench_analytics.pages.report import ReportOptions
from tests.pages.test_report import pieces
from tests.pages.unpack import frame_of_columns, unpacked
from tests.processes import imported_by
from tests.views.test_sandbox import CASES, SECRET, digest

HOST = "127.0.0.1:8000"
TOKEN = "t0ken"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def client(demo: Path, scratch: Path) -> Iterator[TestClient]:
    with closing(Explorer(demo, ReportOptions(), scratch)) as explorer:
        app = explorer_app(explorer, token=TOKEN, host=HOST)
        with TestClient(app, base_url=f"http://{HOST}") as made:
            yield made


def rows_of(answer: Any) -> list[dict[str, Any]]:
    return frame_of_columns(answer.json()["rows"]).to_dicts()


def core_of(client: TestClient, page: Any) -> dict[str, Any]:
    return piece_of(client, page, "core")


def piece_of(client: TestClient, page: Any, name: str) -> Any:
    script = client.get(f"{page.url.path}pieces/{name}.js")
    assert script.headers["content-type"].startswith("text/javascript")
    return unpacked(script.text.removeprefix(f'takePiece("{name}","').removesuffix('");\n'))


def ask(client: TestClient, query: str) -> Any:
    return client.post(f"/{TOKEN}/sql", content=query)


@pytest.mark.long
def test_the_page_is_that_of_the_report(client: TestClient, demo: Path, tmp_path: Path) -> None:
    page = client.get(f"/{TOKEN}/")
    report = open_warehouse(demo).report(tmp_path / "report.html", jobs=1).page

    assert page.status_code == 200
    live = core_of(client, page)
    expected = pieces(report)
    assert {name: live[name] for name in expected["core"]} == expected["core"]
    for name in expected.keys() - {"core"}:
        assert piece_of(client, page, name) == expected[name], name


def test_the_first_screen_does_not_wait_for_what_draws_plans(demo: Path, tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from orchbench_analytics.pages.explorer import Explorer
from orchbench_analytics.pages.report import ReportOptions
explorer = Explorer(Path({str(demo)!r}), ReportOptions(), Path({str(tmp_path)!r}))
for name in ("core", "board-0"):
    explorer.newest().piece(name)
explorer.close()
"""
    assert imported_by(code, "networkx") == []


def test_every_answer_has_a_strict_policy(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    for path in (f"/{TOKEN}/news", f"{page.url.path}pieces/plans.js", "/elsewhere"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/wrong/news"])
def test_a_wrong_token_is_refused(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 403
    assert client.post("/wrong/sql", content="select 1").status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "[::1]:8000", ""]
)
def test_a_wrong_host_is_refused(client: TestClient, host: str) -> None:
    for path in (f"/{TOKEN}/", f"/{TOKEN}/news"):
        assert client.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001"]
)
def test_a_wrong_origin_is_refused(client: TestClient, origin: str) -> None:
    asked = client.post(f"/{TOKEN}/sql", content="select 1", headers={"origin": origin})
    assert asked.status_code == 403


def test_the_own_origin_is_answered(client: TestClient) -> None:
    for host in (HOST, "localhost:8000"):
        headers = {"origin": f"http://{host}", "host": host}
        answer = client.post(f"/{TOKEN}/sql", content="select 1 as one", headers=headers)
        assert rows_of(answer) == [{"one": 1}]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST"])
def test_there_is_nothing_to_write_to(client: TestClient, method: str) -> None:
    page = client.get(f"/{TOKEN}/").url.path
    for path in (page, f"{page}pieces/plans.js", f"{page}report.html", f"/{TOKEN}/news"):
        assert client.request(method, path).status_code == 405


def test_a_piece_that_is_not_there_is_missing(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/").url.path
    for name in ("nothing", "model-999", "..%2f..%2fmanifest", "texts of labels"):
        assert client.get(f"{page}pieces/{name}.js").status_code == 404


def test_a_query_is_answered_as_sql_answers_it(client: TestClient, demo: Path) -> None:
    query = (
        "select model, experiment, average_score, rank_number from main.leaderboard order by all"
    )
    found = frame_of_columns(ask(client, query).json()["rows"])
    assert_frame_equal(found, open_warehouse(demo).sql(query), check_dtypes=False)


def test_values_of_any_type_are_shown(client: TestClient) -> None:
    query = (
        "select 9007199254740993 as large, date '2026-01-02' as day, [1, 2] as list, "
        "{'a': 1} as struct, true as flag, null as nothing, 1.25::decimal(9, 2) as decimal, "
        "'nan'::double as nan, '\\xAA'::blob as bytes, interval 1 day as span"
    )
    (row,) = rows_of(ask(client, query))
    assert row["large"] == "9007199254740993"
    assert row["day"] == "2026-01-02"
    assert (row["list"], row["struct"]) == ("[1,2]", '{"a":1}')
    assert (row["flag"], row["nothing"], row["decimal"], row["nan"]) == ("true", None, 1.25, None)


def test_rows_are_cut_and_the_csv_has_all(client: TestClient) -> None:
    query = "select i, '=1+' || i as text from range(45000) as t(i)"
    answer = ask(client, query).json()
    assert (answer["rows"]["count"], answer["is_cut"]) == (1000, True)

    csv = client.get(f"/{TOKEN}/sql.csv", params={"query": query})

    assert csv.headers["content-disposition"] == 'attachment; filename="query.csv"'
    found = pl.read_csv(csv.content)
    assert found["i"].to_list() == list(range(45000))
    assert found["text"][7] == "'=1+7"  # a spreadsheet does not run it


@pytest.mark.long
def test_no_statement_reaches_a_file(client: TestClient, demo: Path, tmp_path: Path) -> None:
    """The statements that the sandbox refuses, with one connection each, as the page sends them."""
    outside = tmp_path / "outside.csv"
    outside.write_text(f"column\n{SECRET}\n", encoding="utf-8")
    names = {
        "inside": next(demo.glob("scores/*/scored_plans.parquet")),
        "outside": outside,
        "directory": demo,
        "new": tmp_path / "new",
    }
    before = digest(demo), digest(tmp_path)
    # One of nine wrappings of each statement here; `long` tries all.
    _refused(client, [case.format(**names) for case in CASES[::9]], tmp_path)
    assert (digest(demo), digest(tmp_path)) == before


@pytest.mark.long
def test_no_wrapped_statement_reaches_a_file(
    client: TestClient, demo: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text(f"column\n{SECRET}\n", encoding="utf-8")
    inside = next(demo.glob("scores/*/scored_plans.parquet"))
    names = {"inside": inside, "outside": outside, "directory": demo, "new": tmp_path / "new"}
    before = digest(demo), digest(tmp_path)
    _refused(client, [case.format(**names) for case in CASES], tmp_path)
    assert (digest(demo), digest(tmp_path)) == before


def _refused(client: TestClient, statements: list[str], directory: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda text: ask(client, text), statements))
    for text, answer in zip(statements, answers, strict=True):
        is_plan = text.strip().startswith("explain")
        assert answer.status_code == (400 if not is_plan else answer.status_code), text
        assert SECRET not in answer.text
        assert str(directory) not in answer.text or answer.status_code == 400 or is_plan


def test_an_endless_query_is_stopped(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer_module, "QUERY_SECONDS", 1.0)
    answer = ask(client, "select count(*) from range(100000000000) as a, range(100000000000) as b")
    assert answer.status_code == 400
    assert "took longer than 1 second" in answer.text


def test_an_empty_and_a_huge_query_are_refused(client: TestClient) -> None:
    assert ask(client, " ").status_code == 400
    assert ask(client, "select 1 -- " + "x" * 100_001).status_code == 400


def test_search_finds_answers_in_any_case(client: TestClient, demo: Path) -> None:
    steps = open_warehouse(demo).table("steps").select("answer_calls").drop_nulls().collect()
    word = str(steps["answer_calls"][0])[2:14]

    found = rows_of(client.get(f"/{TOKEN}/search", params={"text": word.upper()}))

    assert found
    assert {row["found"].lower() for row in found} == {word.lower()}
    assert all(row["found_count"] >= len(found) for row in found)


@pytest.mark.parametrize("text", ["(", "%", "\\", "' or 1=1 --", "a\nb", "한국 .+", "\\Q"])
def test_a_search_is_for_the_text_itself(client: TestClient, text: str) -> None:
    found = rows_of(client.get(f"/{TOKEN}/search", params={"text": f"  {text} "}))
    assert {row["found"].lower() for row in found} <= {text.lower()}


def test_a_search_for_nothing_finds_nothing(client: TestClient) -> None:
    assert client.get(f"/{TOKEN}/search", params={"text": " a"}).json()["rows"]["count"] == 0


def test_a_chosen_model_is_all_there_is(demo: Path, tmp_path: Path) -> None:
    with closing(Explorer(demo, ReportOptions(models=["perfect"]), tmp_path)) as explorer:
        app = explorer_app(explorer, token=TOKEN, host=HOST)
        with TestClient(app, base_url=f"http://{HOST}") as client:
            page = client.get(f"/{TOKEN}/")
            core = core_of(client, page)
            assert core["models"]["count"] == 1
            found = rows_of(client.get(f"/{TOKEN}/search", params={"text": "name"}))
            assert {row["model"] for row in found} == {"perfect"}


def test_any_two_models_are_compared_when_they_are_asked_for(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/")
    every = frame_of_columns(piece_of(client, page, "comparisons")["pairs"])
    (first, _), (second, _) = frame_of_columns(core_of(client, page)["models"]).rows()[2:4]

    found = frame_of_columns(piece_of(client, page, "pair-2-3")["pairs"])

    expected = every.filter(baseline_model=first, candidate_model=second)
    assert not found.is_empty()
    assert_frame_equal(found, expected)
    for name in ("pair-2-2", "pair-2-99"):
        assert client.get(f"{page.url.path}pieces/{name}.js").status_code == 404


@pytest.mark.long
def test_save_as_report_is_the_offline_file(
    client: TestClient, demo: Path, scratch: Path, tmp_path: Path
) -> None:
    page = client.get(f"/{TOKEN}/").url.path
    saved = client.get(f"{page}report.html")
    assert saved.headers["content-disposition"].startswith("attachment")
    (tmp_path / "saved.html").write_bytes(saved.content)
    made = open_warehouse(demo).report(tmp_path / "made.html", jobs=1).page
    assert pieces(tmp_path / "saved.html") == pieces(made)
    assert "live" not in pieces(made)["core"]
    assert not list(scratch.rglob("*.html"))


def test_two_clients_at_once_get_the_same(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/").url.path
    paths = [f"{page}pieces/{name}.js" for name in ("model-1", "consistency")] * 4
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(client.get, paths))
        counts = list(pool.map(lambda n: rows_of(ask(client, f"select {n} as n")), range(3)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 2
    assert counts == [[{"n": n}] for n in range(3)]


@pytest.fixture
def running_sweep(demo: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Results that go on, and their warehouse, which lacks one model's."""
    results = tmp_path / "results"
    shutil.copytree(demo.parent / "results", results)
    shutil.move(results / "silent", tmp_path / "silent")
    open_warehouse(tmp_path / "warehouse", create=True).ingest(results, jobs=1)
    return tmp_path / "warehouse", results


def test_a_file_added_while_it_is_open_appears(
    running_sweep: tuple[Path, Path], tmp_path: Path
) -> None:
    warehouse, results = running_sweep
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with closing(Explorer(warehouse, ReportOptions(), scratch)) as explorer:
        app = explorer_app(explorer, token=TOKEN, host=HOST)
        with TestClient(app, base_url=f"http://{HOST}") as client:
            first = client.get(f"/{TOKEN}/")
            seen = first.url.path.split("/")[2]

            def news() -> dict[str, Any]:
                found: dict[str, Any] = client.get(f"/{TOKEN}/news?snapshot={seen}").json()
                return found

            assert news() == {"is_changed": False, "note": None}

            shutil.move(tmp_path / "silent", results / "silent")
            count = sum(1 for _ in (results / "silent").rglob("*.json"))
            assert news()["is_changed"] is False
            assert news()["note"].startswith(f"{count} new files are not in the warehouse yet")

            open_warehouse(warehouse).ingest(results, jobs=1)
            assert news() == {"is_changed": True, "note": None}

            # The page that is open stays whole; a new one has the model.
            page = client.get(f"/{TOKEN}/")
            models = [core_of(client, answer)["models"] for answer in (first, page)]
            assert [model["count"] for model in models] == [8, 9]
            assert "silent" in models[1]["columns"]["model"]["words"]
            assert client.get(f"/{TOKEN}/of-another-day/").url.path == page.url.path


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_the_command_serves_and_ends_with_ctrl_c(demo: Path) -> None:
    command = [sys.executable, "-m", "orchbench_analytics", "view", str(demo), "--no-open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        address = run.stdout.readline().strip()
        with urlopen(address, timeout=60) as page:
            assert b"Reading the results" in page.read()
        run.send_signal(SIGINT)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in said
    port = int(address.split(":")[2].split("/")[0])
    with socket.socket() as free:
        assert free.connect_ex(("127.0.0.1", port)) != 0
