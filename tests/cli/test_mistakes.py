"""Natural mistakes: each ends with a sentence that says what to do, and an exit code."""

from pathlib import Path

import pytest

W = "{warehouse}"
MISTAKES = [
    # what is there
    (("ingest", "/no/such/tree", "--into", "w"), 2, "no such file or directory"),
    (("ingest", "{results}"), 2, "give --into DIR"),
    (("ingest", "empty", "--into", "w"), 1, "no input files found"),
    (("ingest", "{results}", "--into", "other"), 2, "holds other things"),
    (("ingest", "{results}", "--into", "file.txt"), 2, "is a file"),
    (("ingest", "{results}", "--into", "w", "--jobs", "0"), 2, "--jobs"),
    (("leaderboard", "nowhere"), 2, "nowhere is not there"),
    (("leaderboard", "other"), 2, "not a warehouse"),
    (("leaderboard",), 2, "set ORCHBENCH_WAREHOUSE"),
    (("compare",), 2, "name the warehouse"),
    (("leaderboard", "file.txt"), 2, "a warehouse is a directory"),
    (("leaderboard", "export"), 2, "it belongs to an export"),
    (("tag", W, "other"), 2, "is a directory"),
    (("report", W, "page.pdf"), 2, "an .html file or a directory, not .pdf"),
    (("demo", W), 2, "is a warehouse; name a place outside"),
    (("demo", "file.txt"), 2, "something else"),
    (("leaderboard", "{results}"), 2, "if it holds result files: orchbench ingest /"),
    (("leaderboard", "{demo}"), 2, "did you mean {demo}/warehouse?"),
    (("ingest", W, "--into", "w"), 2, "is a warehouse; name the result files"),
    (("ingest", "{results}", "w"), 2, "did you mean: orchbench ingest {results} --into w?"),
    (("ingest", W), 2, "did you mean: orchbench ingest PATH --into {warehouse}?"),
    (("ingest", "{results}/*", "--into", "w"), 2, "the shell expands such a pattern"),
    (("ingest", "{results}", "--into", "w", "--model", ""), 2, "--model is empty; give it a name"),
    # numbers
    (("ingest", "{results}", "--into", "w", "--jobs", "two"), 2, "--jobs two: expected a whole"),
    (("leaderboard", W, "-n", "0"), 2, "--limit 0: expected 1 or more"),
    (("leaderboard", W, "-n", "1.5"), 2, "--limit 1.5: expected a whole number"),
    (("leaderboard", W, "--min-coverage", "90%"), 2, "expected a number; 90% is 0.9"),
    (("leaderboard", W, "--min-coverage", "90"), 2, "expected 1.0 or less"),
    (("power", W, "--difference", "5%"), 2, "--difference 5%: expected a number; 5% is 0.05"),
    # arguments that are options
    (("leaderboard", W, "perfect"), 2, "(did you mean --model perfect?)"),
    (("leaderboard", W, "strict"), 2, "(did you mean --profile strict?)"),
    (("leaderboard", W, "EN"), 2, "(did you mean --language EN?)"),
    (("remove", W, "perfect"), 2, "(did you mean --model perfect?)"),
    (("predict", W, "perfect", "file.txt"), 2, "(did you mean --list file.txt?)"),
    (("compare", W, "perfect", "vs", "silent"), 2, "'silent' is one argument too many"),
    # names
    (("leaderbord", W), 2, "Did you mean 'leaderboard'?"),
    (("leaderboard", W, "--profil", "spec"), 2, "no such option: --profil; did you mean --profile"),
    (("leaderboard", W, "--desc"), 2, "no such option: --desc\nsee: "),
    (("leaderboard", W, "--sort", "Averge"), 2, "did you mean Average"),
    (("profile", "show", "strct"), 2, "did you mean strict?"),
    (("score", W, "-p", "mine"), 2, "did you mean mine.toml?"),
    (("export", W, "out.duckdb", "--table", "scored_step"), 2, "did you mean scored_steps"),
    (("export", W, "out.duckdb", "--table", "x"), 2, "there are sources, "),
    (("leaderboard", W, "--profile", "nope"), 2, "only under spec, strict, upstream"),
    (("leaderboard", W, "--profile", "strikt"), 2, "did you mean strict?"),
    (("leaderboard", W, "--profile", "strict.toml"), 2, "did you mean strict?"),
    (("compare", W, "--drivers"), 2, "see: orchbench compare --help"),
    (("consistency", W, "flipz"), 2, "'WHAT': 'flipz' is not one of"),
    (("leaderboard", W, "--model", "perfcet"), 2, "did you mean perfect?"),
    (("leaderboard", W, "--language", "FR"), 2, "there are EN, KO"),
    (("leaderboard", W, "--experiment", "x"), 2, "no experiment 'x'"),
    (("leaderboard", W, "--by", "size"), 2, "no tag 'size'"),
    (("leaderboard", W, "--sort", "averge_score"), 2, "did you mean average_score"),
    (("results", W, "perfcet"), 2, "perfect"),
    (("results", W, "perfect"), 2, "--language EN"),
    (("results", W, "perfect", "--language", "FR"), 2, "baseline in EN, baseline in KO"),
    (("compare", W, "perfect", "silnt"), 2, "silent"),
    (("compare", W, "perfect", "silent", "--metric", "Plam"), 2, "did you mean Plan?"),
    (("show", W, "perfcet"), 2, "did you mean perfect?"),
    (("show", W, "perfect", "999"), 2, "no scenario '999'"),
    (("audit", W, "--model", "nosuch", "--jobs", "1"), 2, "no model 'nosuch'"),
    (("sources", W, "--status", "taekn"), 2, "taken"),
    (("consistency", W, "flip"), 2, "flips"),
    (("trend", W, "checkpoint"), 2, "no tag 'checkpoint'"),
    (("dictionary", "leaderbord"), 2, "did you mean leaderboard?"),
    (("remove", W), 2, "say what to remove"),
    (("remove", W, "--model", "nosuch"), 2, "no model 'nosuch'"),
    (("remove", W, "--profile", "spec"), 2, "built in"),
    (("profile", "show", "nope"), 2, "no profile named 'nope'"),
    (("profile", "new", "mine.txt"), 2, "a profile is a .toml file"),
    (("profile", "new", "mine.toml", "--base", "x"), 2, "expected one of spec"),
    (("score", W, "--profile", "nope"), 2, "no profile named"),
    (("score", W, "--profile", "nope.toml"), 2, "no such profile file"),
    # options that do not go together
    (("export", W, "nowhere/out.duckdb"), 2, "there is no directory nowhere"),
    (("export", W, "nowhere/out"), 2, "there is no directory nowhere"),
    (("export", W, "out.xyz"), 2, "no format has the ending .xyz"),
    (("export", W, "eee:"), 2, "eee: names no directory; write eee:DIR"),
    (("export", W, "sqlite:x"), 2, "a directory of that name is ./sqlite:x"),
    (("leaderboard", W, "--by", "size"), 2, "no tag 'size', only their names"),
    (("compare", W, "perfect", "--gate", "Plan >= 0"), 2, "a gate needs two models"),
    (("compare", W, "--model", "perfect"), 1, "no rows: at least two models with scores"),
    (("compare", W, "--drivers", "3"), 2, "--drivers needs two models"),
    (("compare", W, "perfect", "silent", "--gate", "Plan"), 2, "cannot read the gate"),
    (("compare", W, "perfect", "silent", "--seed", "-1"), 2, "--seed"),
    (("leaderboard", W, "--intervals", "--by", "size"), 2, "do not go together"),
    (("sql", W, "select 1", "--model", "perfect"), 2, "no such option: --model"),
    (("leaderboard", W, "-p", "spec", "-p", "strict"), 2, "--profile is given twice"),
    (("power", W, "--difference", "0"), 2, "between 0 and 1"),
    (("power", W, "--difference", "much"), 2, "--difference"),
    # arguments in the wrong order
    (("leaderboard", "spec", W), 2, "(did you mean --profile spec?)"),
    (("compare", "perfect", "silent", W), 2, "the warehouse comes first: orchbench compare /"),
    (("report", "page.html", W), 2, "the warehouse comes first: orchbench report /"),
    (("sql", "select 1", W), 2, "the warehouse comes first: orchbench sql /"),
    # paths that look like addresses
    (("leaderboard", "file:/wh"), 2, "./file:/wh"),
    (("ingest", "{results}", "--into", "s3:/wh"), 2, "s3://wh was probably meant"),
    (("ingest", "hdfs://host/results", "--into", "w"), 2, "looks like an address"),
    (("leaderboard", W, "-o", "s3://bucket/x.csv"), 2, "looks like an address"),
    (("leaderboard", "w\udcff"), 2, "not UTF-8"),
    (("report", W, "file:/x.html"), 2, "looks like an address"),
    (("leaderboard", "~nobody-at-all/wh"), 2, "./~nobody-at-all/wh"),
    # a place that is not there, or that is here
    (("report", W, "nowhere/page.html"), 2, "there is no directory nowhere"),
    (("export", W, "."), 2, "name another place"),
    (("compare", W, "perfect", "nosuch", "--gate", "Plan >= 0"), 2, "no model 'nosuch'"),
    (("compare", W, "perfect", "nosuch"), 2, "no model 'nosuch'"),
    # where rows go
    (("sources", W, "--status", "refused"), 1, "no rows: no file is refused"),
    (("leaderboard", W, "--output", "x.txt"), 2, "the extension does not name a format"),
    (("leaderboard", W, "--output", "x.csv", "--format", "json"), 2, "disagree"),
    (("leaderboard", W, "--output", "no/such/x.csv"), 2, "there is no directory no/such"),
    (("leaderboard", W, "--output", "empty", "-f", "csv"), 2, "is a directory"),
    (("leaderboard", W, "--format", "excel"), 2, "xlsx"),
    (("results", W, "perfect", "-l", "EN", "-o", "x.csv"), 2, "results are JSON"),
    (("results", W, "perfect", "-o", "out.csv"), 2, "results are JSON"),
    (("export", W, W), 2, "is a warehouse; name a place outside"),
    # queries
    (("sql", W, "select nope from main.steps"), 2, "no column 'nope' in the tables of the query"),
    (("sql", W, "from main.leaderbord"), 2, "did you mean leaderboard?\nsee: orchbench dictionary"),
    (("sql", W, "select $x"), 2, "give --param x=VALUE"),
    (("sql", W, "select 1", "--memory", "200MB"), 2, "--memory 200MB: expected a number"),
    (("sql", W, "copy (select 1) to 'x.csv'"), 2, "may only read"),
    (("sql", W, "missing.sql"), 2, "no such file"),
    (("sql", W, "latin.sql"), 2, "not UTF-8"),
    (("sql", W, "select 1", "--param", "x"), 2, "expected name=value"),
    (("tag", W, "nope.csv"), 2, "no such file"),
    (("tag", W, "file.txt"), 2, "column `model`"),
]


@pytest.mark.parametrize(
    ("arguments", "code", "message"), MISTAKES, ids=[" ".join(m[0]) for m in MISTAKES]
)
def test_a_mistake_is_a_sentence_and_an_exit_code(
    orchbench, monkeypatch, demo: Path, tmp_path: Path, arguments, code, message
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thing").touch()
    (tmp_path / "file.txt").write_text("a\n1\n")
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "manifest.json").write_text('{"generation": 1}')
    (tmp_path / "mine.toml").write_text('base = "spec"\n')
    (tmp_path / "latin.sql").write_bytes("select 'é'".encode("latin-1"))
    places = {"demo": demo, "warehouse": demo / "warehouse", "results": demo / "results"}
    before = sorted(tmp_path.rglob("*"))
    done = orchbench(*(argument.format(**places) for argument in arguments))
    assert (done.returncode, done.stdout) == (code, "")
    assert message.format(**places) in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_typed_is_never_said_raw(orchbench, demo: Path) -> None:
    done = orchbench("leaderboard", demo / "warehouse", "--model", "\x1b]0;x\x07\u202e")
    assert done.returncode == 2
    assert not set(done.stderr) & set("\x1b\x07\u202e")
