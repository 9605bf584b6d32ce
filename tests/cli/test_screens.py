"""Every command on a terminal of 80 columns: no line is longer, and a few are kept as they were.

`ORCHBENCH_GOLDEN=write pytest tests/cli/test_screens.py` writes the screens again.
"""

import json
import os
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.pseudo_terminal import Screen, commands_on_terminal, on_terminal
from tests.documents import runs_document, scenario_path, write

GOLDEN = Path(__file__).parent / "screens"
W = "demo/warehouse"
SCREENS = {
    "leaderboard": ("leaderboard", W),
    "leaderboard_intervals": ("leaderboard", W, "--intervals"),
    "leaderboard_language": ("leaderboard", W, "--language", "EN", "--limit", "3"),
    "compare": ("compare", W, "graded-1", "perfect"),
    "compare_drivers": ("compare", W, "graded-1", "perfect", "--drivers", "2"),
    "compare_one": ("compare", W, "perfect"),
    "compare_all": ("compare", W),
    "consistency_flips": ("consistency", W),
    "consistency_pass_rates": ("consistency", W, "pass_rates"),
    "consistency_run_noise": ("consistency", W, "run_noise"),
    "consistency_spread": ("consistency", W, "spread"),
    "consistency_gaps": ("consistency", W, "gaps"),
    "power": ("power", W),
    "audit": ("audit", W, "--model", "graded-1"),
    "check": ("check", W),
    "sources": ("sources", W),
    "show_models": ("show", W),
    "show_scenarios": ("show", W, "graded-2"),
    "show_steps": ("show", W, "graded-1", "1", "--language", "EN"),
    "show_step": ("show", W, "graded-1", "5", "4"),
    "show_plan": ("show", W, "graded-1", "5", "3"),
    "results": ("results", W, "perfect", "--language", "EN"),
    "sql_rows": ("sql", W, "select * from main.scored_steps"),
    "sql_texts": ("sql", W, "select step_id, answer_content, label_content from main.steps"),
    "dictionary": ("dictionary", "leaderboard"),
    "profile_list": ("profile", "list"),
    "profile_show": ("profile", "show", "upstream"),
    "profile_diff": ("profile", "diff", "spec", "strict"),
    "help": ("--help",),
    "mistake": ("leaderboard", W, "--language", "FR"),
}
KEPT = (
    "leaderboard",
    "compare",
    "compare_one",
    "consistency_flips",
    "profile_diff",
    "mistake",
)


@pytest.fixture
def home(demo: Path, tmp_path: Path) -> Path:
    """A directory in which the demo has a short name."""
    (tmp_path / "demo").symlink_to(demo)
    return tmp_path


@pytest.fixture(scope="module")
def screens(demo: Path, make_once) -> dict[str, Screen]:
    """Every command, one after another in one process on one terminal."""

    def run_all(directory: Path) -> None:
        directory.mkdir()
        (directory / "demo").symlink_to(demo)
        shown = commands_on_terminal(SCREENS.values(), cwd=directory)
        kept = dict(zip(SCREENS, shown, strict=True))
        (directory / "screens.json").write_text(json.dumps(kept), encoding="utf-8")

    kept = (make_once("screens", run_all) / "screens.json").read_text(encoding="utf-8")
    return {name: Screen(*screen) for name, screen in json.loads(kept).items()}


@pytest.mark.parametrize("name", SCREENS)
def test_no_line_is_longer_than_the_terminal(screens: dict[str, Screen], name: str) -> None:
    screen = screens[name]
    is_json = name == "results"
    too_long = [line for line in screen.text.splitlines() if cell_len(line) > 80]
    assert is_json or too_long == []
    assert screen.returncode == (2 if name == "mistake" else 0), screen.text
    assert (
        is_json
        or name in ("help", "dictionary", "profile_show")
        or len(screen.text.splitlines()) <= 60
    )
    if name in KEPT:
        kept = GOLDEN / f"{name}.txt"
        if os.environ.get("ORCHBENCH_GOLDEN") == "write":
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(screen.text, encoding="utf-8")
        assert screen.text == kept.read_text(encoding="utf-8")


def test_wide_and_all_show_what_was_left_out(home: Path, screens: dict[str, Screen]) -> None:
    assert "more columns, seen with --wide" in screens["sql_rows"].text
    whole = on_terminal(*SCREENS["sql_rows"], "--wide", "--all", cwd=home).text
    assert "seen with" not in whole
    assert "value_f1" in whole


def test_a_step_says_that_it_is_there_in_other_runs(screens: dict[str, Screen]) -> None:
    others = "1 more answer to this step: choose with --run, --language or --experiment"
    assert others in screens["show_plan"].text
    assert "profile spec" in screens["show_steps"].text


def test_intervals_say_what_they_are(screens: dict[str, Screen]) -> None:
    said = " ".join(screens["leaderboard_intervals"].text.split())
    assert "low and high: 95 % interval of Average over scenarios" in said


def test_a_refused_file_has_its_whole_reason_and_hints_can_be_pasted(tmp_path: Path) -> None:
    write(scenario_path(tmp_path / "results"), runs_document())
    cut = scenario_path(tmp_path / "results", scenario="2")
    cut.write_text('{"history": {"run #1":', encoding="utf-8")
    into = str(tmp_path / "a warehouse")
    ingest = ("ingest", str(tmp_path / "results"), "--into", into)
    refused = ("sources", into, "--status", "refused")

    commands = (ingest, ("leaderboard", into), refused)
    ingested, board, said = commands_on_terminal(commands, cwd=tmp_path)

    assert ingested.returncode == 0
    assert f"orchbench sources '{into}' --status refused" in " ".join(board.text.split())
    assert "complete" in said.text
    assert "seen with --wide" not in said.text


@pytest.mark.long
def test_an_export_says_how_many_rows_are_written(home: Path) -> None:
    told = on_terminal("export", W, "x.xlsx", "--table", "steps", cwd=home)
    assert told.returncode == 0
    assert re.search(r"exporting steps: [\d,]+ of [\d,]+ rows", told.text)


def test_colours_are_there_unless_nobody_wants_them(home: Path) -> None:
    call = ("compare", W, "perfect", "silent", "--metric", "Average")
    assert "\x1b[31mworse" in on_terminal(*call, cwd=home, NO_COLOR="").text
    assert "\x1b[" not in on_terminal(*call, cwd=home).text
    assert "\x1b[" not in on_terminal(*call, cwd=home, NO_COLOR="", TERM="dumb").text


def test_the_prompt_answers_lists_describes_and_names_its_own_words(home: Path) -> None:
    queries = "select 41 + 1 as answer;\nselect * from main.scored_steps;\nselect nope;\n"
    typed = f"{queries}.tables\n.describe leaderboard\n.quit\n"
    screen = on_terminal("sql", W, cwd=home, typed=typed, XDG_STATE_HOME=str(home / "state"))
    assert screen.returncode == 0
    assert "    42" in screen.text
    assert "scenario_scores" in screen.text
    assert "rank_number" in screen.text
    assert "Referenced column" in screen.text
    assert "answer" in (home / "state/orchbench/sql_history").read_text(encoding="utf-8")
    assert "seen with .wide" in screen.text
    assert "seen with .all" in screen.text
    assert "--wide" not in screen.text
    assert "--all" not in screen.text


@pytest.mark.long
def test_the_bar_of_an_ingest_does_not_stand_still_while_it_scores(
    home: Path, tmp_path: Path
) -> None:
    call = ("ingest", "demo/results", "--into", tmp_path / "w", "--jobs", 1)
    drawn = on_terminal(*call, cwd=home, lines=24).text
    _, _, scoring = drawn.partition("files read; scoring")
    assert scoring
    assert "━" not in scoring  # no bar
    assert len({*re.findall(r"\d:\d\d:\d\d", scoring)}) >= 1  # the time that it takes
    assert "0/? bytes" not in scoring


@pytest.mark.long
def test_text_of_models_does_not_act_on_the_terminal(home: Path) -> None:
    query = "select chr(27) || ']0;x' || chr(7) as \"a\x1b[31m\", chr(8238) as b"
    for how in ((), ("--format", "csv"), ("--format", "json"), ("--format", "latex")):
        screen = on_terminal("sql", W, query, *how, cwd=home)
        assert not set(screen.text) & set("\x1b\x07\u202e")


def test_the_call_to_go_on_with_is_about_the_first_scenario(screens: dict[str, Screen]) -> None:
    text = screens["show_scenarios"].text
    scenario, language = re.findall(r"^(\S+) +(EN|KO) ", text, re.MULTILINE)[0]
    assert f"graded-2 {scenario} --language {language}" in text.replace("\n", " ")
