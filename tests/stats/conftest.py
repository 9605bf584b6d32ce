"""A small warehouse, and simulated sweeps whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from orchbench_analytics.warehouse import Warehouse, open_warehouse
from tests.sweep import write_sweep

Simulate = Callable[..., pl.DataFrame]
RUNS = 3


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    root = tmp_path_factory.mktemp("sweep")
    write_sweep(root, models=9, scenarios=6, runs=3, seed=11)
    opened = open_warehouse(root / "warehouse", create=True)
    opened.ingest(root / "results", agent_cards=[root / "agent_cards"], jobs=1)
    return opened


@pytest.fixture(scope="session")
def scenario_scores(warehouse: Warehouse) -> pl.DataFrame:
    return warehouse.table("scenario_scores").collect().sort(pl.all())


@pytest.fixture(scope="session")
def simulate() -> Simulate:
    return _simulate


def _simulate(
    rng: np.random.Generator,
    *,
    sweeps: int,
    scenarios: int,
    skills: Sequence[float],
    languages: Sequence[str] = ("EN", "KO"),
    correlation: float = 0.0,
) -> pl.DataFrame:
    """Rows of `scenario_scores`: in each sweep, models of these skills on the same new scenarios.

    Steps of a scenario are alike in difficulty, and runs of a model on it are alike in success, so
    that a scenario is a cluster. Scenarios of equal names are translations of each other, whose
    difficulties, and what a model makes of them, correlate. Model `m0007-1` is of the second skill,
    in sweep 7.
    """
    blocks = []
    shape = (sweeps, 1, scenarios)
    skill = np.array(skills)[None, :, None]
    shared, own = rng.normal(size=shape), rng.normal(size=(sweeps, len(skills), scenarios))
    rejections = rng.binomial(rng.integers(2, 8, size=shape), 0.25) * RUNS
    calls = rng.integers(1, 6, size=shape) * RUNS
    for language in languages:
        difficulty = _correlated(rng, shared, correlation)
        made_of_it = 0.5 * _correlated(rng, own, correlation)
        blocks.append(_answer(rng, language, rejections, calls, difficulty - made_of_it, skill))
    return pl.concat(blocks)


def _correlated(
    rng: np.random.Generator, shared: npt.NDArray[np.float64], correlation: float
) -> npt.NDArray[np.float64]:
    alone = rng.normal(size=shared.shape)
    return np.asarray(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * alone)


def translations(sweep: pl.DataFrame) -> pl.DataFrame:
    """The clusters of a simulated sweep: scenarios of equal names go together."""
    return sweep.select("language", "scenario", cluster="scenario").unique()


def _answer(
    rng: np.random.Generator,
    language: str,
    rejections: npt.NDArray[np.int64],
    calls: npt.NDArray[np.int64],
    difficulty: npt.NDArray[np.float64],
    skill: npt.NDArray[np.float64],
) -> pl.DataFrame:
    shape = np.broadcast_shapes(difficulty.shape, skill.shape)

    def chance(ease: float) -> npt.NDArray[np.float64]:
        own = rng.normal(0, 0.3, size=shape)  # what the model makes of this very task
        return np.asarray(1 / (1 + np.exp(difficulty - skill - ease - own)))

    decided = chance(0.5)
    rejected = rng.binomial(np.broadcast_to(rejections, shape), decided)
    called = rng.binomial(np.broadcast_to(calls, shape), decided)
    missed_calls = calls - called
    false_rejections = rng.binomial(missed_calls, 0.7)
    call_scores = {
        name: rng.binomial(4 * np.broadcast_to(calls, shape), chance(ease)) / (4 * calls)
        for name, ease in (("name_f1", 1.0), ("key_f1", 0.7), ("value_f1", 0.2))
    }
    likeness = {name: chance(0.5) for name in ("structure_similarity", "component_similarity")}
    plan = {name: rng.beta(20 * p, 20 * (1 - p)) for name, p in likeness.items()}
    sweep, model, scenario = np.indices(shape).reshape(3, -1)
    columns = {
        "rejection_label_count": np.broadcast_to(rejections, shape),
        "true_positive_reject_count": rejected,
        "false_positive_reject_count": false_rejections,
        "false_negative_reject_count": rejections - rejected,
        "true_positive_call_count": called,
        "false_positive_call_count": rejections - rejected,
        "false_negative_call_count": missed_calls,
        **call_scores,
        "plan_similarity": (plan["structure_similarity"] + plan["component_similarity"]) / 2,
        **plan,
    }
    return pl.DataFrame(
        {
            "profile": ["spec"] * sweep.size,
            "model": [f"m{s:04d}-{m}" for s, m in zip(sweep, model, strict=True)],
            "experiment": ["default"] * sweep.size,
            "language": [language] * sweep.size,
            "scenario": [f"{s:06d}" for s in scenario],
            **{name: np.ascontiguousarray(values).ravel() for name, values in columns.items()},
        }
    )
