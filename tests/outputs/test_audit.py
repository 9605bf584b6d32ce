"""The audit shows what each rule does, and that all together lead from one profile to the other."""

from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.outputs.audit import ALL_RULES, audited_profiles
from orchbench_analytics.profiles import SPEC, UPSTREAM, rule_choices
from orchbench_analytics.warehouse import Warehouse

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def warehouse(demo: Path):
    return open_warehouse(demo / "warehouse")


def test_each_differing_rule_is_flipped_alone() -> None:
    profiles = audited_profiles()
    differing = [r for r in rule_choices() if getattr(UPSTREAM, r) != getattr(SPEC, r)]
    assert list(profiles) == [*differing, ALL_RULES]
    for rule in differing:
        changed = [r for r in rule_choices() if getattr(profiles[rule], r) != getattr(UPSTREAM, r)]
        assert changed == [rule]


@pytest.fixture(scope="module")
def audit(warehouse) -> pl.DataFrame:
    before = (warehouse.path / "manifest.json").read_bytes()
    rows = warehouse.audit()
    assert (warehouse.path / "manifest.json").read_bytes() == before  # it scores elsewhere
    return rows


def test_all_rules_together_are_the_other_profile(warehouse, audit: pl.DataFrame) -> None:
    rows = audit.filter(pl.col("rule") == ALL_RULES)
    spec = {
        (row["model"], row["experiment"]): row
        for row in warehouse.leaderboard(profile="spec").to_dicts()
    }
    assert len(rows) == len(spec)
    for row in rows.to_dicts():
        expected = spec[row["model"], row["experiment"]]
        assert [row[m] for m in HEADLINE] == pytest.approx([expected[m] for m in HEADLINE])
        assert row["rank_number"] == expected["rank_number"]


def test_what_the_rules_do_on_real_data(conformance_warehouse: Warehouse) -> None:
    rows = conformance_warehouse.audit()

    def change(rule: str, model: str, metric: str) -> float:
        row = rows.filter((pl.col("rule") == rule) & (pl.col("model") == model))
        return row[f"{metric}_change"].item()

    # Silence counted as a call gives the silent model its 0.42; ours gives it nothing.
    assert change("silence", "sim-silent", "call_rejection_f1") == pytest.approx(-0.42395, abs=1e-4)
    # Reading `depend_on`, and counting a failed plan once, gives the label-copying model its due.
    dependencies = change("structure_edges", "sim-oracle", "workflow_similarity")
    assert dependencies == pytest.approx(0.03965, abs=1e-4)
    assert change(ALL_RULES, "sim-oracle", "workflow_similarity") == pytest.approx(0.0452, abs=1e-4)
