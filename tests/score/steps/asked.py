"""A step whose argument `city` differs from the label, and what became of that key."""

from typing import Any

from tests.rows import Row, call, calls, columns_of, score_rows, step

COUNTS = ("true_positive_count", "false_positive_count", "false_negative_count")
REPLACES_ALL = {"verdict": "replaces_all"}


def asked(wanted: Any = "Seoul", given: Any = "Seul", **columns: Any) -> Row:
    """A step whose `city` differs; lists stand for several calls."""
    return step(
        label_calls=calls(*(call("book", {"city": value}) for value in as_list(wanted))),
        answer_calls=calls(*(call("book", {"city": value}) for value in as_list(given))),
        **columns,
    )


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def city(*rows: Row, **options: Any) -> tuple[Any, ...]:
    """Counts of the key `city` of the only step, and who decided."""
    arguments = score_rows(*rows, **options).arguments.filter(argument_key="city")
    (found,) = columns_of(arguments, *COUNTS, "decided_by")
    return found
