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
