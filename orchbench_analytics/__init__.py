"""Analytics for OrchestrationBench results: flatten, score, query, compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchbench_analytics.errors import OrchbenchError
    from orchbench_analytics.warehouse import Warehouse, open_warehouse

__version__ = "0.1.0"
__all__ = ["OrchbenchError", "Warehouse", "__version__", "open_warehouse"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line answers at once."""
    if name in ("Warehouse", "open_warehouse"):
        from orchbench_analytics import warehouse

        return getattr(warehouse, name)
    if name == "OrchbenchError":
        from orchbench_analytics.errors import OrchbenchError

        return OrchbenchError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
