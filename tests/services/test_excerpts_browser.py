"""Excerpts, in a real browser: each is drawn, without a word on the console."""

from pathlib import Path

import polars as pl
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from orchbench_analytics import open_warehouse
from orchbench_analytics.outputs.show import StepKey
from orchbench_analytics.pages import excerpts
from tests.services.conftest import wait_until

HOSTILE = "<img src=x onerror=alert(1)>"


def of_demo(demo: Path, kind: str) -> str:
    warehouse = open_warehouse(demo)
    if kind == "plan":
        wrong = warehouse.table("scored_plans").filter(
            pl.col("structure_distance") > 0, profile="spec"
        )
        row = wrong.with_columns(kind=pl.lit("plan")).select(*StepKey._fields).collect().row(0)
        return excerpts.plan(warehouse.table, StepKey(*row), warehouse.profile("spec")) or ""
    board = warehouse.leaderboard().with_columns(name=pl.lit(HOSTILE), low=0.1, high=0.9)
    named = pl.DataFrame({"name": [HOSTILE, "less"], "value": [2.0, -1.0]})
    texts = pl.DataFrame({"title": ["Label"], "content": [HOSTILE], "calls": ["[]"]})
    made = {
        "table": lambda: excerpts.table(named, caption="Rows"),
        "ranking": lambda: excerpts.ranking(board),
        "confusion": lambda: excerpts.confusion(warehouse.table("confusion_matrix").collect()),
        "bars": lambda: excerpts.bars(named, caption="Bars", digits=1),
        "verdicts": lambda: excerpts.verdicts(warehouse.compare(metrics=["Plan"]).head(4)),
        "answers": lambda: excerpts.answers(texts),
    }
    return made[kind]()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("table", HOSTILE),
        ("ranking", HOSTILE),
        ("confusion", "awaiting user"),
        ("bars", "+2.0"),
        ("verdicts", "Plan"),
        ("answers", HOSTILE),
        ("plan", "Workflows and what they wait for"),
    ],
)
def test_an_excerpt_is_drawn(
    browser: webdriver.Chrome, demo: Path, tmp_path: Path, kind: str, said: str
) -> None:
    page = tmp_path / f"{kind}.html"
    page.write_text(of_demo(demo, kind), encoding="utf-8")

    browser.get_log("browser")
    browser.get(page.as_uri())
    wait_until(browser, lambda b: b.find_elements(By.CLASS_NAME, "excerpt"))

    assert said in browser.find_element(By.TAG_NAME, "body").text
    assert browser.get_log("browser") == []
    assert not browser.find_elements(By.TAG_NAME, "img")
