"""A sample sweep: invented agents, scenarios and models in the benchmark's own tree."""

from orchbench_analytics.demo.sweep import SweepSummary, write_sweep

__all__ = ["SweepSummary", "write_sweep"]
