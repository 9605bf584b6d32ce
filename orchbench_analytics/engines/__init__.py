"""Where work runs: in this process, in local worker processes, or on Spark."""

from orchbench_analytics.engines.engine import Engine, Here, require_reach
from orchbench_analytics.engines.local import Local

__all__ = ["Engine", "Here", "Local", "require_reach"]
