"""The views once more, in plain Python, to compare them with.

Nothing here is grouped, joined or summed by polars or DuckDB: rows come out of the tables as they
are, and dictionaries, sets and `statistics` do the rest.
"""

from tests.oracle.decisions import Decisions
from tests.oracle.judge import Judge
from tests.oracle.models import Models
from tests.oracle.plans import Plans
from tests.oracle.scenarios import Scenarios
from tests.oracle.tools import Tools

__all__ = ["Oracle"]


class Oracle(Models, Scenarios, Decisions, Tools, Plans, Judge):
    """Each attribute with the name of a view computes that view's rows."""
