-- The profiles of scoring rules, with the choice each makes for every rule.
-- grain: profile_sk
with

profiles as (select * from main.profiles),

keyed as (
    select
        profile_key(profile) as profile_sk,
        *
    from profiles
)

select * from keyed
