"""The views of `sql/` in a Postgres database that the tables were exported to."""

from __future__ import annotations

from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.views.dialects import carried_views, carry, functions
from orchbench_analytics.views.profiles_and_tags import profiles_query


def postgres_script(manifest: Manifest, *, is_materialized: bool = False) -> list[str]:
    """The statements that create the functions, the profiles and every view, in their order.

    Materialized views are computed once, each from those before it, and stay as they are.
    """
    queries = {"profiles": carry(profiles_query(manifest), "postgres"), **carried_views("postgres")}
    kind = "materialized view" if is_materialized else "or replace view"
    created = (f"create {kind} {name} as {query}" for name, query in queries.items())
    return [*functions("postgres"), *created]
