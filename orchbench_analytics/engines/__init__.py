"""Where work runs: in this process, in local worker processes, or on Spark."""

from orchbench_analytics.engines.local import Engine, Here, Local, require_reach

__all__ = ["Engine", "Here", "Local", "require_reach"]
