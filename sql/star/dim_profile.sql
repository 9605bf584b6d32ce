-- The profiles of scoring rules, with the choice each makes for every rule.
-- grain: profile_sk
select
    profile_key(profile) as profile_sk,
    *
from main.profiles
