"""The figures of a result document."""

from typing import Any

Figures = dict[str, float]


def figures_of(values: dict[str, Any], prefix: str = "") -> Figures:
    """Every number by its dotted path; a scenario's `detail` repeats figures in other words."""
    figures: Figures = {}
    for name, value in values.items():
        if isinstance(value, dict) and name != "detail":
            figures |= figures_of(value, f"{prefix}{name}.")
        elif isinstance(value, int | float):
            figures[prefix + name] = value
    return figures
