"""The queries and functions of `sql/` in Spark's SQL, translated by sqlglot.

Names have no schema there, because temporary views of Spark have none. A query that names itself in
a CTE still means the view.
"""

from __future__ import annotations

import re
from functools import cache

import sqlglot
from sqlglot import exp

from orchbench_analytics.errors import QueryError
from orchbench_analytics.queries import macros, sql_directory, views

_TYPES = {"rounding": "string", "units": "decimal(38, 0)"}
# Functions that run code on the machine they are called on.
_REACHING_OUT = {"reflect", "java_method", "try_reflect"}
_CREATED = re.compile(r"create or replace temporary function (\w+)")


@cache
def spark_functions() -> tuple[str, ...]:
    """The statements that create the functions of `sql/macros`, each after those it uses."""
    given = _given_functions()
    found: dict[str, str] = {}
    for name, macro in _macros().items():
        if name in _aggregates():
            continue
        if name in given:
            found |= {needed: given[needed] for needed in given if needed not in found}
            continue
        arguments = (f"{a.name} {_TYPES.get(a.name, 'double')}" for a in macro.this.expressions)
        found[name] = (
            f"create or replace temporary function {name}({', '.join(arguments)}) "
            f"returns double return {_translated(macro.expression)}"
        )
    return tuple(found.values())


@cache
def _macros() -> dict[str, exp.Expr]:
    """The statements of `sql/macros` by the names they create."""
    found = (m for text in macros() for m in sqlglot.parse(text, read="duckdb") if m)
    return {macro.this.this.name: macro for macro in found}


@cache
def _aggregates() -> dict[str, exp.Expr]:
    """The macros that aggregate rows, which a SQL function of Spark cannot do."""
    found: dict[str, exp.Expr] = {}
    for name, macro in _macros().items():
        calls = {call.name for call in macro.expression.find_all(exp.Anonymous)}
        if macro.expression.find(exp.AggFunc) or calls & found.keys():
            found[name] = macro
    return found


def _expand_aggregate(node: exp.Expr) -> exp.Expr:
    """Replace the call of an aggregating macro with the macro's body."""
    macro = _aggregates().get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
    if macro is None:
        return node
    names = (parameter.name for parameter in macro.this.expressions)
    given = dict(zip(names, node.expressions, strict=True))

    def filled(part: exp.Expr) -> exp.Expr:
        return given[part.name].copy() if isinstance(part, exp.Column) else part

    expanded: exp.Expr = macro.expression.transform(filled).transform(_expand_aggregate)
    return expanded


@cache
def spark_views() -> dict[str, str]:
    """The queries of the views of `sql/`, each after those it reads."""
    return {view.name: translate(view.query) for view in views().values()}


def translate(query: str) -> str:
    """A query of DuckDB in Spark's SQL; it may only read."""
    return _translated(_parsed(query))


def relations_in(query: str) -> set[str]:
    """The names in a query that stand for tables."""
    return {table.name for table in _parsed(query).find_all(exp.Table)}


def _parsed(query: str) -> exp.Expr:
    try:
        statements = sqlglot.parse(query, read="duckdb")
    except sqlglot.errors.SqlglotError as error:
        raise QueryError(f"the query cannot be translated to Spark's SQL: {error}") from error
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise QueryError("on Spark, expected one query that reads (select, with, from)")
    calls = {call.name.lower() for call in statements[0].find_all(exp.Anonymous)}
    if calls & _REACHING_OUT:
        raise QueryError(f"{', '.join(calls & _REACHING_OUT)} may not be used: only rows are read")
    return statements[0]


def _translated(query: exp.Expr) -> str:
    for table in query.find_all(exp.Table):
        if table.db == "main":
            table.set("db", None)
    for cte in query.find_all(exp.CTE):
        cte.set("materialized", None)  # Spark's SQL has no such word
    return query.transform(_expand_aggregate).sql("spark", comments=False)


def _given_functions() -> dict[str, str]:
    """The functions that Spark needs in words of its own, by name."""
    text = (sql_directory() / "functions" / "spark.sql").read_text(encoding="utf-8")
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    statements = [s.strip() for s in re.split(r";\s*(?:\n\n|\Z)", bare) if s.strip()]
    return {_CREATED.search(statement)[1]: statement for statement in statements}  # type: ignore[index]
