"""CONTRIBUTING's recipe for a metric, followed in a copy of the package: every command knows it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import orchbench_analytics
from orchbench_analytics import open_warehouse
from orchbench_analytics.queries import sql_directory

ENTRY = """    "reject_jaccard": Metric(
        "Reject Jaccard",
        "TP / (TP + FP + FN) of rejecting, 0 to 1; null where all are 0.",
        Ratio({_TP_REJECT: 1}, {_TP_REJECT: 1, _FP_REJECT: 1, _FN_REJECT: 1}),
        ("reject_jaccard",),
    ),
"""
FORMED = """        share(
            true_positive_reject_count,
            true_positive_reject_count + false_positive_reject_count + false_negative_reject_count
        ) as reject_jaccard,
"""
# What the recipe adds: in which file, before which line.
ADDED = [
    ("orchbench_analytics/metrics.py", '    "reject_precision": Metric(\n', ENTRY),
    ("sql/model_scores.sql", "        precision_of(true_positive_reject_count", FORMED),
    ("sql/model_scores.sql", "        reject_precision, ", "        reject_jaccard,\n"),
    ("sql/metric_scores.sql", "            reject_f1, ", "            reject_jaccard,\n"),
]
# Every command that takes or lists metrics, and a text that shows the new one in its output.
COMMANDS = [
    ("compare WH graded-3 graded-4 --metric reject_jaccard", "Reject Jaccard"),
    ("compare WH --metric reject_jaccard", "Reject Jaccard"),
    ("compare WH graded-3 graded-4 --metric reject_jaccard --drivers 2", "Reject Jaccard"),
    ("compare WH graded-3 graded-4 --gate RejectJaccard", "gate Reject Jaccard >= -0.9 held"),
    ("trend WH size --metric reject_jaccard", "Reject Jaccard"),
    ("power WH --metric reject_jaccard", ""),
    ("shortlist WH --scenarios 4 --metric reject_jaccard -o OUT/few.csv", ""),
    ("predict WH graded-3 --list OUT/few.csv --metric reject_jaccard", ""),
    ("sql WH METRICS", "Reject Jaccard"),
    ("dictionary model_scores", "reject_jaccard"),
    ("leaderboard WH", "Average"),
    ("leaderboard WH --intervals", "Average"),
    ("consistency WH run_noise", "Average"),
    ("consistency WH gaps", "Average"),
    ("costs WH", "graded-3"),
    ("show WH graded-3", "graded-3"),
    ("results WH graded-3 --language EN", "Average"),
    ("export WH OUT/star --star", ""),
    ("report WH OUT/report.html", ""),
    ("check WH", ""),
]
WORDS = {
    "RejectJaccard": "Reject Jaccard >= -0.9",
    "METRICS": "select metric, score from main.metric_scores where metric = 'reject_jaccard'",
}
RUN = """
import sys
from typer.testing import CliRunner
from orchbench_analytics.cli import program
from orchbench_analytics import open_warehouse
from orchbench_analytics.stats.consistency import run_noise

failures = 0
for line in sys.stdin.read().splitlines():
    *words, shown = line.split("\\t")
    done = CliRunner().invoke(program(), words)
    if done.exit_code or shown not in done.output:
        failures += 1
        print(words, done.exit_code, repr(done.exception), done.output[-2000:])
warehouse = open_warehouse(sys.argv[1])
steps, plans = (warehouse.table(name) for name in ("scored_steps", "scored_plans"))
noise = run_noise(steps, plans, metrics=["reject_jaccard"])
assert noise["mean_value"].is_not_null().any()
long = warehouse.sql("select model, experiment, language, score from main.metric_scores "
                     "where profile = 'spec' and metric = 'reject_jaccard'")
spans = warehouse.intervals(metrics=["reject_jaccard"])
both = long.join(spans, on=["model", "experiment", "language"])
assert len(both) > 20 and ((both["score"] - both["value"]).abs() < 1e-12).all()
sys.exit(failures)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the package and of `sql/`, with the metric added."""
    package = Path(orchbench_analytics.__file__).parent
    shutil.copytree(package, tmp_path / "checkout" / package.name)
    shutil.copytree(sql_directory(), tmp_path / "checkout" / "sql", dirs_exist_ok=True)
    for name, line, added in ADDED:
        file = tmp_path / "checkout" / name
        text = file.read_text(encoding="utf-8")
        assert text.count(line) == 1, (name, line)
        file.write_text(text.replace(line, added + line), encoding="utf-8")
    return tmp_path / "checkout"


@pytest.mark.long
def test_a_metric_is_added_by_one_entry_and_its_column_in_sql(
    checkout: Path, demo_directory: Path, tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    shutil.copytree(demo_directory / "warehouse", warehouse)
    sizes = [f"graded-{number},{10 * number}" for number in range(1, 7)]
    (tmp_path / "tags.csv").write_text("\n".join(["model,size", *sizes]), encoding="utf-8")
    open_warehouse(warehouse).tag(tmp_path / "tags.csv")
    places = WORDS | {"WH": str(warehouse)}
    calls = [
        [*(places.get(w, w).replace("OUT", str(tmp_path)) for w in command.split()), shown]
        for command, shown in COMMANDS
    ]

    done = subprocess.run(
        [sys.executable, "-c", RUN, str(warehouse)],
        input="\n".join(map("\t".join, calls)),
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert "reject_jaccard" in (tmp_path / "star" / "metrics.yaml").read_text(encoding="utf-8")
    assert (tmp_path / "report.html").stat().st_size > 100_000
