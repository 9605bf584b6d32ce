"""Which differences are real: intervals, ranks, comparisons and consistency over runs."""

from orchbench_analytics.metrics import HEADLINE, METRICS, resolve_metric
from orchbench_analytics.stats.bootstrap import intervals
from orchbench_analytics.stats.columns import STATISTICS
from orchbench_analytics.stats.compare import compare, compare_all, compare_pairs, compare_with
from orchbench_analytics.stats.consistency import (
    flips,
    model_spread,
    pass_rates,
    run_noise,
    run_scores,
)
from orchbench_analytics.stats.counts import MEAN_OF_LANGUAGES
from orchbench_analytics.stats.drivers import drivers, step_drivers
from orchbench_analytics.stats.gate import Gate, GateResult, check_gate, gate_level, parse_gate
from orchbench_analytics.stats.ranks import rank_intervals

__all__ = [
    "HEADLINE",
    "MEAN_OF_LANGUAGES",
    "METRICS",
    "STATISTICS",
    "Gate",
    "GateResult",
    "check_gate",
    "compare",
    "compare_all",
    "compare_pairs",
    "compare_with",
    "drivers",
    "flips",
    "gate_level",
    "intervals",
    "model_spread",
    "parse_gate",
    "pass_rates",
    "rank_intervals",
    "resolve_metric",
    "run_noise",
    "run_scores",
    "step_drivers",
]
