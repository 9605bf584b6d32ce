"""Where work runs: in this process, in local worker processes, or on a cluster."""

from orchbench_analytics.engines.engine import Engine, Here
from orchbench_analytics.engines.local import Local

__all__ = ["Engine", "Here", "Local"]
