"""Search across answers: which steps and plans have a text, and the words around it."""

from __future__ import annotations

import re

MOST_FOUND = 200
_SHORTEST = 2
# The answers that have the text, in order, with what stands before and after its first place.
SEARCH = f"""
with answers as (
    select 'step' as unit, model, experiment, language, scenario, run, step_id,
        concat_ws(chr(10), answer_content, answer_calls) as answer
    from main.steps
    union all
    select 'plan', model, experiment, language, scenario, run, step_id, answer_content
    from main.plans
),
found as (
    select *, count(*) over () as found_count
    from answers
    where regexp_matches(answer, $pattern)
    order by model, experiment, language, scenario, run, step_id, unit
    limit {MOST_FOUND}
),
parted as (
    select * exclude (answer), regexp_extract(answer, $around, ['before', 'found', 'after']) as part
    from found
)
select * exclude (part), part.before, part.found, part.after
from parted
order by model, experiment, language, scenario, run, step_id, unit
"""


def search_parameters(text: str) -> dict[str, str] | None:
    """The parameters of the search for a text in any case; none if it is too short to search."""
    wanted = re.escape(text.strip())
    if len(text.strip()) < _SHORTEST:
        return None
    return {"pattern": f"(?i){wanted}", "around": f"(?is)(.{{0,80}})({wanted})(.{{0,160}})"}
