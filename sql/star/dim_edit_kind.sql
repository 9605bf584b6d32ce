-- What can be wrong with a plan: kinds of edits, in one of its two graphs.
-- grain: edit_kind_sk
with

known as (
    select distinct graph, kind
    from main.plan_edits
)

select
    surrogate_key([graph, kind]) as edit_kind_sk,
    graph, kind
from known
