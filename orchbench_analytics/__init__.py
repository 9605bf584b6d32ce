"""Analytics for OrchestrationBench results: flatten, score, query, compare."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchbench_analytics.errors import OrchbenchError
    from orchbench_analytics.warehouse import Warehouse, open_warehouse

    __version__: str

__all__ = ["OrchbenchError", "Warehouse", "__version__", "open_warehouse"]

_ROOMS = {"OrchbenchError": "errors", "Warehouse": "warehouse", "open_warehouse": "warehouse"}


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line answers at once."""
    if name == "__version__":
        from importlib.metadata import version

        return version("orchbench-analytics")
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__
