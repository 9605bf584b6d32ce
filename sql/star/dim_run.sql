-- The runs, by the name that documents have for them.
-- grain: run_sk
with

steps as (select * from main.steps),
plans as (select * from main.plans),

known as (
    select run from steps
    union
    select run from plans
),

keyed as (
    select
        surrogate_key([run]) as run_sk,
        run,
        try_cast(regexp_extract(run, '([0-9]+)$', 1) as bigint) as run_number
    from known
)

select * from keyed
