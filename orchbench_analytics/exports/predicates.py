"""Parts of a relation as a condition in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from orchbench_analytics.exports.contents import part_value
from orchbench_analytics.exports.values import quoted_name
from orchbench_analytics.views.catalog import quoted


def sql_predicate(column: str, parts: Sequence[str]) -> str:
    """The condition under which a row is in one of the parts."""
    values = [part_value(part) for part in parts]
    texts = [quoted(v) if isinstance(v, str) else str(v) for v in values if v is not None]
    conditions = [f"{quoted_name(column)} in ({', '.join(texts)})"] if texts else []
    if None in values:
        conditions.append(f"{quoted_name(column)} is null")
    return " or ".join(conditions)
