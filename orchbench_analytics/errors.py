"""What can go wrong in a call to this package.

OrchbenchError
├── PathError         a path given by the caller does not exist or cannot be used
├── WarehouseError    a directory is not a warehouse, is damaged, or is held by another process
├── StorageError      a bucket refuses what is asked of it
│   └── Unreachable   a bucket does not answer, or only with errors of its own
├── ProfileError      a profile or one of its rules is unknown
├── QueryError        a query names something that is not there, or is not allowed
│   └── QueryTimeout  a query took longer than it may
├── EngineError       where the work should run, something is missing or out of reach
├── SelectionError    a model, language, metric or table that is not in the warehouse
└── NoAnswersError    what is asked for needs runs, and there are result files alone

A malformed input file is not an error: it is a row in `sources` with its reason.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_FEW = 15
_CLOSE = 0.7  # of 1: how alike two names must be for one to be suggested


class OrchbenchError(Exception):
    """A wrong call; the message says what to do about it."""


class PathError(OrchbenchError):
    """A path given by the caller does not exist or cannot be used."""


class WarehouseError(OrchbenchError):
    """A directory is not a warehouse, is damaged, or is held by another process."""


class StorageError(OrchbenchError):
    """A bucket refuses what is asked of it."""


class Unreachable(StorageError):  # noqa: N818 (what it is, in a word)
    """A bucket does not answer, or only with errors of its own."""


class ProfileError(OrchbenchError):
    """A profile or one of its rules is unknown."""


class QueryError(OrchbenchError):
    """A query names something that is not there, or is not allowed."""


class QueryTimeout(QueryError):  # noqa: N818 (named like Python's own)
    """A query took longer than it may."""


class EngineError(OrchbenchError):
    """Where the work should run, something is missing or out of reach."""


class SelectionError(OrchbenchError):
    """A model, language, metric or table that is not in the warehouse."""


class NoAnswersError(OrchbenchError):
    """What is asked for needs runs, and there are result files alone."""


def suggest(name: str, known: Iterable[str]) -> str:
    """What may be meant by a name that is not known: the closest ones, or what there is."""
    names = list(known)
    by_letters = {each.lower(): each for each in reversed(names)}  # the first of equals stays
    close = get_close_matches(name.lower(), by_letters, n=3, cutoff=_CLOSE)
    if close:
        return f"did you mean {' or '.join(by_letters[each] for each in close)}?"
    return f"there are {few(names)}"


def few(names: Sequence[str]) -> str:
    """The first of many names, and how many there are."""
    more = f", … ({len(names):,} in all)" if len(names) > _FEW else ""
    return (", ".join(names[:_FEW]) + more) or "none"
