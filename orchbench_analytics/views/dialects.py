"""The views of `sql/` in the words of other engines: sqlglot carries them over.

Names stand without a schema there: temporary views of Spark have none, and Postgres looks in the
search path. A query that names itself in a CTE still means the view, on both engines.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

import sqlglot
from sqlglot import exp

from orchbench_analytics.errors import QueryError
from orchbench_analytics.queries import macros, sql_directory, views
from orchbench_analytics.tables import TABLES

Dialect = Literal["spark", "postgres"]


class _Words(NamedTuple):
    """How an engine creates a function, and what it calls the types of arguments."""

    function: str
    number: str
    text: str
    units: str


_WORDS: dict[str, _Words] = {
    "spark": _Words(
        "create or replace temporary function {name}({arguments}) returns {number} return {body}",
        number="double",
        text="string",
        units="decimal(38, 0)",
    ),
    "postgres": _Words(
        "create or replace function {name}({arguments}) returns {number} "
        "language sql immutable parallel safe as $$ select {body} $$",
        number="double precision",
        text="text",
        units="numeric",
    ),
}
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_TEXT_COLUMNS = {c.name for t in TABLES.values() for c in t.columns if c.kind == "text"}
# Functions that run code of the machine they are on.
_REACHING_OUT = {"reflect", "java_method", "try_reflect"}
_CREATED = re.compile(r"create or replace (?:temporary )?function (\w+)")


@cache
def functions(dialect: Dialect) -> tuple[str, ...]:
    """The statements that create the functions of `sql/macros`, each after those it uses."""
    words = _WORDS[dialect]
    given = _given_functions(dialect)
    found: dict[str, str] = {}
    for name, macro in _macros().items():
        if name in _aggregates():
            continue
        if name in given:
            found |= {needed: given[needed] for needed in given if needed not in found}
            continue
        arguments = (f"{a.name} {_type_of(a.name, words)}" for a in macro.this.expressions)
        body = _carried(macro.expression, dialect)
        found[name] = words.function.format(
            name=name, arguments=", ".join(arguments), number=words.number, body=body
        )
    return tuple(found.values())


@cache
def _macros() -> dict[str, exp.Expr]:
    """The statements of `sql/macros` by the names they create."""
    found = (m for text in macros() for m in sqlglot.parse(text, read="duckdb") if m)
    return {macro.this.this.name: macro for macro in found}


@cache
def _aggregates() -> dict[str, exp.Expr]:
    """The macros that add up rows, which no SQL function of another engine can."""
    found: dict[str, exp.Expr] = {}
    for name, macro in _macros().items():
        calls = {call.name for call in macro.expression.find_all(exp.Anonymous)}
        if macro.expression.find(exp.AggFunc) or calls & found.keys():
            found[name] = macro
    return found


def _written_out(node: exp.Expr) -> exp.Expr:
    """A call of a macro that adds up rows as what the macro says."""
    macro = _aggregates().get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
    if macro is None:
        return node
    names = (parameter.name for parameter in macro.this.expressions)
    given = dict(zip(names, node.expressions, strict=True))

    def filled(part: exp.Expr) -> exp.Expr:
        return given[part.name].copy() if isinstance(part, exp.Column) else part

    written: exp.Expr = macro.expression.transform(filled).transform(_written_out)
    return written


@cache
def carried_views(dialect: Dialect) -> dict[str, str]:
    """The queries of the views of `sql/`, each after those it reads."""
    return {view.name: carry(view.query, dialect) for view in views().values()}


def carry(query: str, dialect: Dialect) -> str:
    """A query in DuckDB's words in those of another engine; it may only read."""
    return _carried(_parsed(query, dialect), dialect)


def relations_in(query: str, dialect: Dialect) -> set[str]:
    """The names that stand where a query reads tables."""
    return {table.name for table in _parsed(query, dialect).find_all(exp.Table)}


def _parsed(query: str, dialect: Dialect) -> exp.Expr:
    try:
        statements = sqlglot.parse(query, read="duckdb")
    except sqlglot.errors.SqlglotError as error:
        raise QueryError(f"the query cannot be carried over to {dialect}: {error}") from error
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise QueryError(f"on {dialect}, expected one query that reads (select, with, from)")
    calls = {call.name.lower() for call in statements[0].find_all(exp.Anonymous)}
    if calls & _REACHING_OUT:
        raise QueryError(f"{', '.join(calls & _REACHING_OUT)} may not be used: only rows are read")
    return statements[0]


def _carried(query: exp.Expr, dialect: Dialect) -> str:
    for table in query.find_all(exp.Table):
        if table.db == "main":
            table.set("db", None)
    for cte in query.find_all(exp.CTE):
        cte.set("materialized", None)  # Spark has no such word, and Postgres decides as well
    query = query.transform(_written_out)
    if dialect == "postgres":
        query = query.transform(_for_postgres)
    return query.sql(dialect, comments=False)


def _for_postgres(node: exp.Expr) -> exp.Expr:
    """Take JSON lists apart by its own function, and compare texts by their bytes."""
    if isinstance(node, exp.Unnest | exp.Explode):
        text = next(node.find_all(exp.Column))
        return exp.func("json_array_elements_text", exp.cast(text.copy(), "json"))
    if isinstance(node, _COMPARISONS) and _compares_texts(node):
        collation = exp.Identifier(this="C", quoted=True)
        left = exp.Collate(this=node.left.copy(), expression=collation)
        return type(node)(this=left, expression=node.right.copy())
    return node


def _compares_texts(node: exp.Expr) -> bool:
    sides = (node.this, node.expression)
    return all(isinstance(side, exp.Column) and side.name in _TEXT_COLUMNS for side in sides)


def _given_functions(dialect: Dialect) -> dict[str, str]:
    """The statements of the file with what an engine has in words of its own, by name."""
    text = (sql_directory() / "functions" / f"{dialect}.sql").read_text(encoding="utf-8")
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    statements = [s.strip() for s in re.split(r";\s*(?:\n\n|\Z)", bare) if s.strip()]
    return {_CREATED.search(statement)[1]: statement for statement in statements}  # type: ignore[index]


def _type_of(argument: str, words: _Words) -> str:
    return {"rounding": words.text, "units": words.units}.get(argument, words.number)
