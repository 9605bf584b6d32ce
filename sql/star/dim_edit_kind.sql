-- What can be wrong with a plan: kinds of edits, in one of its two graphs.
-- grain: edit_kind_sk
with

plan_edits as (select * from main.plan_edits),

known as (
    select distinct graph, kind
    from plan_edits
),

keyed as (
    select
        surrogate_key([graph, kind]) as edit_kind_sk,
        graph, kind
    from known
)

select * from keyed
