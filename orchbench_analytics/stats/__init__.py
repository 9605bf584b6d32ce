"""Which differences are real: intervals, ranks, comparisons and consistency over runs."""

from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES, METRICS, resolve_metric
from orchbench_analytics.stats.bootstrap import intervals
from orchbench_analytics.stats.columns import SCORE_STATISTICS
from orchbench_analytics.stats.compare import compare, compare_models, compare_pairs, compare_with
from orchbench_analytics.stats.consistency import consistency, flips, pass_rates
from orchbench_analytics.stats.drivers import all_drivers, drivers, step_drivers
from orchbench_analytics.stats.gaps import language_gaps
from orchbench_analytics.stats.gate import Gate, GateResult, check_gate, gate_level, parse_gate
from orchbench_analytics.stats.noise import model_spread, run_noise
from orchbench_analytics.stats.planning import SweepPlan, plan_sweep, plan_sweeps, power_advice
from orchbench_analytics.stats.ranks import rank_intervals
from orchbench_analytics.stats.run_columns import RUN_STATISTICS
from orchbench_analytics.stats.trend import trends
from orchbench_analytics.stats.variances import variances

STATISTICS = (*SCORE_STATISTICS, *RUN_STATISTICS)

__all__ = [
    "HEADLINE",
    "MEAN_OF_LANGUAGES",
    "METRICS",
    "STATISTICS",
    "Gate",
    "GateResult",
    "SweepPlan",
    "all_drivers",
    "check_gate",
    "compare",
    "compare_models",
    "compare_pairs",
    "compare_with",
    "consistency",
    "drivers",
    "flips",
    "gate_level",
    "intervals",
    "language_gaps",
    "model_spread",
    "parse_gate",
    "pass_rates",
    "plan_sweep",
    "plan_sweeps",
    "power_advice",
    "rank_intervals",
    "resolve_metric",
    "run_noise",
    "step_drivers",
    "trends",
    "variances",
]
