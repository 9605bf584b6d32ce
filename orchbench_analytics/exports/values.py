"""Values that a format cannot carry, or that a program would run: changed, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import duckdb

from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.views.sql_text import quoted_name

EXCEL_TEXT = 32_767  # the most a cell holds, in units of UTF-16
_KEPT = EXCEL_TEXT - 1  # the mark takes one
_PAST_16_BITS = r"regexp_replace($text, '[\x{0}-\x{FFFF}]', '', 'g')"


class Rule(NamedTuple):
    """A change to texts: what it does in words; in SQL of `$text`, when and how."""

    what: str
    applies: str
    gives: str


REPLACE_NUL = Rule(
    "with NUL characters, which became �",
    "contains($text, chr(0))",
    "replace($text, chr(0), '�')",
)
DEFUSE_FORMULA = Rule(
    "that a spreadsheet would run, which have an apostrophe before them (--raw leaves them)",
    r"regexp_matches($text, '^[=+\-@\t\r]')",
    "chr(39) || $text",
)
CUT_LONG = Rule(
    f"longer than {EXCEL_TEXT:,} characters, which were cut and end in …",
    f"length($text) + length({_PAST_16_BITS}) > {EXCEL_TEXT}",
    f"left($text, {_KEPT} - length({_PAST_16_BITS.replace('$text', f'left($text, {_KEPT})')}))"
    " || '…'",
)


def selected(relation: Relation, rules: Sequence[Rule]) -> str:
    """The columns of a relation in SQL, with every rule applied to its texts."""
    return ", ".join(
        f"{_changed(column.name, rules)} as {quoted_name(column.name)}"
        if column.kind == "text" and rules
        else quoted_name(column.name)
        for column in relation.table.columns
    )


def count_changes(
    connection: duckdb.DuckDBPyConnection, relations: Sequence[Relation], rules: Sequence[Rule]
) -> dict[str, int]:
    """How many values each rule changes, by column and what it does."""
    counted: dict[str, int] = {}
    for relation in relations:
        texts = [column.name for column in relation.table.columns if column.kind == "text"]
        asked = [(name, rule) for name in texts for rule in rules]
        if not asked:
            continue
        tests = (f"count(*) filter ({_of(rule.applies, quoted_name(n))})" for n, rule in asked)
        query = f"select {', '.join(tests)} from main.{relation.name}"
        found = connection.execute(query).fetchone() or ()
        for (name, rule), number in zip(asked, found, strict=True):
            if number:
                counted[f"{relation.name}.{name}: values {rule.what}"] = number
    return counted


def _changed(column: str, rules: Sequence[Rule]) -> str:
    expression = quoted_name(column)
    for rule in rules:
        applies, gives = _of(rule.applies, expression), _of(rule.gives, expression)
        expression = f"case when {applies} then {gives} else {expression} end"
    return expression


def _of(template: str, expression: str) -> str:
    return template.replace("$text", expression)
